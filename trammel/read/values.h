// The values of a model file: numbers with their units, vectors, expressions of parameters. Everything comes out in SI;
// what is wrong goes to the problem list and comes out as nothing, so that reading goes on.
//
// Numbers that are known when the file is read (plain ones and expressions of parameters) are in the units of the file.
// Expressions that are evaluated during the run are in SI inside.
//
// One object serves one space of names: the model, or one use of a subsystem. While a part of a file is repeated, its
// index and what depends on it are bound on top of the parameters.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trammel/base/document.h"
#include "trammel/base/units.h"
#include "trammel/math/expression.h"
#include "trammel/model/model.h"
#include "trammel/read/entries.h"

namespace trammel {

class Values {
 public:
  // A parameter, or what is bound for a while: the index of a repetition.
  struct Known {
    std::string name;
    Location where;
    double value = 0;  // in the units of the file
    double si_value = 0;
    bool has_unit = false;  // stated one, or follows from parameters that did
    std::string si_unit;    // of si_value, if one was stated
    bool pure = false;      // an index: never has a unit
    bool used = false;
    bool good = false;     // has a value; if not, that has been reported
    bool is_text = false;  // has a text instead: stands in $( ) only
    std::string text;
    bool is_array = false;  // used as name(k), k from 1
    std::vector<double> values, si_values;
    AngleUnit angle;  // of the value in the units of the file
  };
  using Bound = std::vector<Known>;

  Values(Document& document, ProblemList& problems);
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  void error(const Node& node, const char* id, std::string message, std::string hint = "");
  void add(const Problem& problem) { problems_.add(problem); }
  Location where(const Node& node) const { return document_.where(node); }
  Entries mapping(const Node& node, const Place& place, Rule rule = Rule::none) {
    return {document_, problems_, node, place, rule};
  }

  // The sections that change how all others are read; nullptr: absent.
  void read_units(const Node* node);
  void take_units(const Values& other);  // the same as another's
  bool same_units(const Values& other) const { return factors_ == other.factors_; }
  // Of all files of this space of names, in any order. `overrides` come from the command line, `given` from the use of
  // a subsystem.
  void read_parameters(const std::vector<const Node*>& sections,
                       const std::vector<std::pair<std::string, std::string>>& overrides, const Bound& given = {});
  std::vector<Parameter> parameters() const;  // in SI
  bool has_parameter(std::string_view name) const { return parameter_index_.count(name) != 0; }
  // The same for mappings whose names are bound afterwards, or handed to a subsystem. They may use those before them.
  Bound read_local_parameters(const Node& section, const char* kind);
  bool check_parameter_name(const Node& key, const char* kind);  // true: good

  // What stands on top of the parameters until the next call; nullptr: nothing. Must outlive its use.
  void bind(Bound* bound) { bound_ = bound; }
  Bound* bound() const { return bound_; }

  // In a subsystem, parameters are not those of the model, so expressions of the run get their values; and names of
  // frames, joints and inputs there become those of the model.
  using Qualify = std::function<std::string(std::string_view name, bool is_place)>;
  void set_private(Qualify qualify) { qualify_ = std::move(qualify); }

  double unit_of(Quantity quantity) const { return factor(quantity); }  // of plain numbers, in SI

  // The node with every $(...) in it replaced; the node itself if there is none.
  const Node& instantiate(const Node& node);

  std::optional<double> number(const Node& node, const Place& place, Quantity quantity);
  std::optional<Vec3> vector(const Node& node, const Place& place, Quantity quantity, bool planar = false);
  std::optional<std::vector<double>> numbers(const Node& node, const Place& place, Quantity quantity);
  std::optional<Mat3> inertia(const Node& node, const Place& place);
  std::optional<Mat6> matrix6(const Node& node, const Place& place, Quantity quantity);
  std::optional<bool> condition(const Node& node, const Place& place);  // a number that is not 0
  std::optional<long> whole_number(const Node& node, const Place& place);
  // A square matrix of six rows and columns for each frame, or its diagonal; by rows.
  std::optional<std::vector<double>> matrix(const Node& node, const Place& place, Quantity quantity);
  // Rows of numbers, or one row; by rows.
  std::optional<std::vector<double>> table(const Node& node, const Place& place);
  std::optional<std::vector<double>> points(const Node& node, const Place& place, Quantity quantity);
  std::optional<bool> boolean(const Node& node, const Place& place);
  std::optional<std::vector<std::string>> names(const Node& node, const Place& place);
  std::optional<std::string> text(const Node& node, const Place& place);
  std::optional<Vec3> direction(const Node& node, const Place& place);  // of length 1
  std::optional<Quat> orientation(const Node& node, const Place& place);
  std::optional<ExpressionText> expression(const Node& node, const Place& place, Quantity quantity);
  // A plain number times the factor of a unit that was stated for it elsewhere, or in SI if none was.
  std::optional<double> number_in(const Node& node, const Place& place, const std::optional<double>& unit_factor);
  // The factor to SI of a unit of any dimension.
  std::optional<double> any_unit(const Node& node, const Place& place);
  bool is_si() const { return all_si_; }  // all of the file's units
  // The value of a field, its range checked.
  std::optional<Value> field(const Node& node, const Place& place, const Field& description);
  // A number, true or false, or else a text.
  std::optional<Value> scalar_of_any_kind(const Node& node, const Place& place);

 private:
  struct ParameterText {
    std::string_view content;
    std::optional<Unit> unit;  // as stated
    Location from;
    const Node* list = nullptr;  // an array has this instead of the content
  };
  struct Pending {  // a parameter that has been seen, but not evaluated
    ParameterText source;
    std::optional<Unit> file_unit;
    const char* kind = "parameter";  // or "--set"
    bool good = false;
  };
  // A value without its {value, unit} wrapping, and the factor of its plain numbers to SI.
  struct Scaled {
    const Node* node = nullptr;
    double factor = 1;
    bool stated = false;
  };

  // The ways to write an orientation.
  std::optional<Quat> by_quaternion(const Node& node, const Place& place);
  std::optional<Quat> by_axis(const Node& axis, const Node& angle, const Place& place);
  std::optional<Quat> by_two_axes(const Node& x_axis, const Node& z_axis, const Place& place);
  std::optional<Quat> by_euler_angles(const Node& euler, const Node& sequence, const Place& place);
  std::optional<Quat> by_matrix(const Node& matrix, const Place& place);

  static std::size_t slot(Quantity quantity) { return static_cast<std::size_t>(quantity); }
  double factor(Quantity quantity) const { return factors_[slot(quantity)]; }
  Location text_start(const Node& node) const;  // of a scalar, behind its quote
  std::optional<Unit> unit(std::string_view text, const Node& node, const Place& place);
  std::optional<double> unit_factor(std::string_view text, const Node& node, const Place& place, Quantity quantity);
  std::optional<Scaled> unwrap(const Node& node, const Place& place, Quantity quantity);
  std::optional<double> scalar(std::string_view text, const Node& node, const Place& place, Quantity quantity,
                               const Scaled& scaled);
  // Any number of plain numbers, in a list or in a text "[1, 2] mm".
  bool list(const Node& node, const Place& place, Quantity quantity, std::vector<double>& out, const char* wanted);
  bool within_limits(double value, const Node& node, const Place& place, const Field& description);
  bool rows(const Node& node, const Place& place, int size, std::vector<double>& out, Quantity quantity);
  void collect_parameters(const Node& section, const std::vector<std::pair<std::string, std::string>>& overrides,
                          const Bound& given, std::vector<Pending>& pending);
  Pending pending_parameter(const Node& key, const Node& value, std::optional<std::string_view> given);
  void take_given(const Known& given, const Pending& pending, Known& known);
  std::vector<std::size_t> evaluation_order(const std::vector<Pending>& pending);
  std::optional<ParameterText> parameter_text(const Node& value, const Place& place);
  std::optional<ParameterText> override_text(std::string_view given, const ParameterText& in_file, const Place& place);
  void evaluate_parameter(const Pending& pending, Known& known);
  void evaluate_array(const Pending& pending, const Place& place, Known& known);
  struct Evaluated {
    double value = 0;
    bool has_parameters = false, all_have_units = true, any_has_unit = false;
    bool varies = false;  // depends on what is bound
    AngleUnit angle;
  };
  std::optional<Evaluated> evaluate(std::string_view text, const Location& where, const Place& place, bool si);
  Known* find_known(std::string_view name, bool& varies);
  std::optional<std::string> expand(std::string_view text, const Node& node, int depth);
  std::optional<std::string> expand_one(std::string_view inside, const Node& node, int depth);
  std::string with_values(std::string_view expression, const Node& node, const Place& place);
  std::optional<Unit> matching_file_unit(const Unit& unit) const;
  // Of a number in one of the file's units, with length, mass and time in those of the file.
  AngleUnit angle_unit(const Unit& unit) const;
  std::optional<double> to_si(const Evaluated& result, const Node& node, const Place& place, Quantity quantity,
                              double factor_used, bool stated);
  void wrong_type(const Node& node, const Place& place, const char* wanted, std::string hint = "");

  Document& document_;
  ProblemList& problems_;
  Bound* bound_ = nullptr;
  Qualify qualify_;
  std::array<double, quantity_count> factors_;
  std::array<std::string, quantity_count> unit_names_;
  bool all_si_ = true;
  std::vector<Known> parameters_;
  std::unordered_map<std::string_view, std::size_t> parameter_index_;
  std::unordered_map<std::string, Evaluated> evaluated_;  // expressions of parameters have one value per file
};

}  // namespace trammel
