// Reads a document into a Model. First the document is unfolded into fragments, each a mapping of sections with its
// space of names: files that include others, repetitions, uses of subsystems (unfold.cc). Then the sections are read
// one kind after the other over all fragments, so that a joint finds its bodies wherever they stand.
#pragma once
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trammel/base/document.h"
#include "trammel/model/mass_properties.h"
#include "trammel/read/read_model.h"
#include "trammel/read/values.h"

namespace trammel {

class ModelReader {
 public:
  ModelReader(Document& document, ProblemList& problems, const ReadOptions& options)
      : document_(document), problems_(problems), options_(options) {}
  Model read();
  // What was read besides the first file, for provenance.
  const std::string& other_texts() const { return other_texts_; }

 private:
  using NameIndex = std::unordered_map<std::string_view, int>;  // names live in the document
  static constexpr int missing_body = -2;

  // ---- Unfolding (unfold.cc) ---------------------------------------------------------------------------------------

  struct Scope;
  struct GivenInput {  // an expression that the use of a subsystem gives, read when its own inputs are known
    std::string_view name;
    const Node* node;
    Scope* scope;
    Values::Bound bound;
  };
  struct Definition {
    const Node* node = nullptr;
    Scope* scope = nullptr;  // where it stands; its units hold in it
  };
  // One space of names: the model, or one use of a subsystem.
  struct Scope {
    Scope(Document& document, ProblemList& problems) : values(document, problems) {}
    Values values;
    std::string prefix;  // "left."
    Scope* parent = nullptr;
    const Node* definition = nullptr;  // of the subsystem
    std::string_view definition_name;  // for messages
    int depth = 0;
    Pose pose;                         // of its own world
    std::vector<const Node*> sources;  // roots of its files
    std::vector<std::string> files;    // included so far
    std::unordered_map<std::string_view, Definition> subsystems;
    bool has_interface = false;
    std::vector<std::string_view> interface;
    std::vector<std::string_view> needs;
    std::unordered_map<std::string_view, std::string> connections;  // names that it needs -> names of the model
    std::vector<GivenInput> given_inputs;
    std::unordered_map<std::string, std::string> input_texts;
  };
  struct Fragment {
    Scope* scope = nullptr;
    const Node* node = nullptr;
    Values::Bound bound;
    std::string context;  // "i = 3"
    bool repeated = false;
  };

  void gather(Scope& scope, const Node& root, Rule rule, std::vector<std::string>& chain);
  void include(Scope& scope, const Node& node, std::vector<std::string>& chain);
  void set_up(Scope& scope, const Values::Bound& given);
  void read_names(const Node* node, const Place& place, std::vector<std::string_view>& names);
  void add_definitions(Scope& scope, const Node& node);
  const Node& prepared(const Node& block);
  void unfold_repeat(Scope& scope, const Node& node, const Values::Bound& outer, const std::string& context);
  void unfold_block(Scope& scope, const Node& block, const Values::Bound& outer, const std::string& context);
  bool repeat_values(const Node& index, Entries& entries, const Place& place, Values::Bound& values);
  void unfold_uses(std::size_t first);
  void unfold_use(const Node& key, const Node& node);
  struct Use;  // one entry of a section `use`
  bool read_use(const Node& node, Use& use);
  bool find_source(Use& use);
  bool check_nesting(const Use& use);
  Scope& add_scope(const Use& use, Values::Bound& given);
  void check_connections(const Use& use, const Scope& inner, Scope& outer);
  Definition find_definition(const Node& node, const Place& place);
  const Node* load_file(const Node& node, const Place& place, std::string* path);
  std::string resolve(std::string_view path, const Node& node) const;  // relative to the file it stands in
  std::string load_text(const std::string& path, const Node& node, const Place& place, bool& good);
  void activate(Fragment& fragment);
  void activate(Scope& scope, Values::Bound* bound);

  // ---- Names -------------------------------------------------------------------------------------------------------

  struct Entry {
    std::string_view name;  // in the model: with the names of the subsystems it is in
    const Node& key;
    const Node& node;
  };
  std::string full_name(std::string_view name) const;  // of a body, frame or joint as written in this scope
  void check_visible(const Node& node, const Place& place);
  std::string qualify(const Scope& scope, std::string_view name, bool is_place) const;

  template <class T>
  static void set(T& target, const std::optional<T>& value) {
    if (value) target = *value;
  }

  // Calls take(entry) for every entry of a section of named things, over all fragments.
  template <class Take>
  void each(std::string_view section, std::string_view kind, Take&& take) {
    names_.clear();
    for (Fragment& fragment : fragments_) {
      const Node* node = stop_ ? nullptr : fragment.node->find(section);
      if (node == nullptr) continue;
      const std::size_t before = problems_.all().size();
      activate(fragment);
      each_entry(*node, kind, true, take);
      // A mistake in a repetition is the same for every index: once is enough.
      if (fragment.repeated && problems_.all().size() > before) stop_ = true;
    }
    problems_.set_context("");
  }
  template <class Take>
  void each_entry(const Node& section, std::string_view kind, bool defines, Take&& take) {
    if (!check_section(section, kind)) return;
    for (std::size_t i = 0; i < section.count; ++i) {
      const Node& key = section.key(i);
      const Node* value = check_entry(key, section.value(i), kind, defines);
      if (value == nullptr) continue;
      if (!defines || current_->prefix.empty()) {
        take(Entry{key.text, key, *value});
      } else {
        take(Entry{document_.keep(current_->prefix + std::string(key.text)), key, *value});
      }
    }
  }
  bool check_section(const Node& section, std::string_view kind);
  const Node* check_entry(const Node& key, const Node& value, std::string_view kind, bool defines);

  // ---- Sections ----------------------------------------------------------------------------------------------------

  void read_version(const Node& root);
  void read_input(const Entry& entry);
  void name_state(const Entry& entry);
  void read_state(const Entry& entry);
  void name_variable(const Entry& entry, const char* what);
  void read_variable(const Entry& entry);
  void read_block(const Entry& entry);
  template <class Description>
  const Description* find_type(Entries& entries, const Entry& entry, const Place& place,
                               const std::vector<Description>& registry, Item& item);
  void read_fields(Entries& entries, const Place& place, const Node& key, const std::vector<Field>& fields,
                   bool names_signals, Item& item);
  bool check_signal_name(const Entry& entry, const char* what);
  void refuse_other_unit(const Node& node, const Place& place, const std::string& unit);
  void read_curves();

  // Bodies (read_bodies.cc)
  struct Solid {  // a shape with what it would weigh at density 1
    Shape shape;
    MassProperties unit;  // in the axes of the body
    std::optional<double> density, mass;
    std::optional<MassProperties> given;  // a part without a shape
    const Node* node = nullptr;
    bool has_form = false;
  };
  void read_state(Entries& entries, const Place& place, Body& body);
  void read_ends(Entries& entries, const Place& place, Body& body);
  void read_body(const Entry& entry);
  void read_bending(Entries& entries, const Place& place, Body& body);
  void read_plain_inertia(const Node& node, const Place& place, Body& body, bool needs_mass);
  std::optional<Mat3> read_inertia_mapping(const Node& node, const Place& place, double mass, const Vec3& center);
  bool read_form(Entries& entries, const Node& node, const Place& place, bool planar, bool weighed, Shape& shape,
                 MassProperties* unit);
  bool read_mesh_form(const Node* file, const Node* scale, const Node& node, const Place& place, Shape& shape,
                      MassProperties* unit);
  bool read_solid(const Node& node, const Place& place, Rule rule, bool weighed, const Body& body, Solid& solid);
  bool read_parts(const Node& parts, const Place& place, bool weighed, const Body& body, std::vector<Solid>& solids);
  void draw_solids(std::vector<Solid>& solids, const Body& body, bool numbered);
  bool complete_densities(std::vector<Solid>& solids, const std::optional<double>& common, bool has_mass,
                          const Place& place, const Body& body);
  void weigh_solids(const std::vector<Solid>& solids, const Place& place, Body& body);
  void read_solids(const Node* shape, const Node* parts, const Node* density, const Place& place, bool weighed,
                   bool has_mass, Body& body);
  void read_shape(const Entry& entry);

  // Lines (read_lines.cc): nodes with the bodies, the rest once all bodies are known
  struct Line {
    Item item;
    int first_node = 0;
  };
  void name_line(const Entry& entry);
  void read_line(const Entry& entry, const Line& line);
  void read_lines();

  bool is_planar(int body) const { return body >= 0 && kind_of(model_.bodies[body]).is_planar; }
  int find_body(const Node& node, const Place& place);
  Pose to_local(int body, const Pose& here) const;  // from the world of this scope to body axes, bodies as drawn
  int add_frame(int body, const Pose& local, const Location& where);
  std::optional<Quat> read_axes(const Node* axis_node, const Node* x_node, const Place& place);
  void read_frame(const Entry& entry);
  void place_at_node(const Node& node, const Place& place, int body, Pose& pose);

  // Joints, motions and forces (read_items.cc)
  void read_item(Category category, const Entry& entry, std::vector<Item>& items);
  void read_part(Entries& entries, const Place& place, Item& item);
  Value in_scope(Value value, FieldKind kind, bool names_signals) const;
  void attach_by_fields();
  std::vector<int> frame_pairs(const Node& node, const Place& place);
  std::vector<int> attach(Entries& entries, const Place& place, const Node& key, const ElementDescription& description);
  std::vector<int> frames_of_joint(const Node& node, const Place& place);
  int find_joint(const Node& node, const Place& place);
  int find_frame(const Node& node, const Place& place);
  std::vector<int> frames_between(const Node& pair, const Node* at, const Node* axis, const Node* axis_b,
                                  const Node* x_axis, const Place& place, const Node& key,
                                  const ElementDescription& description);
  std::optional<Quat> read_second_axes(const Node& axis_b, const Node* x_axis, const Place& place);
  void check_cross(const Quat& axes_a, const Quat& axes_b, const Node* axis_b, const Place& place, const Node& key,
                   const std::string& type);

  // Sets of contacts (read_contacts.cc)
  struct Member {
    std::string name;  // as written
    int frame = -1;
  };
  void read_contact_set(const Entry& entry);
  std::vector<Member> read_members(Entries& entries, const char* side, const Node& key, const Place& place);
  void add_members(const Node& node, const Place& place, std::vector<Member>& members);

  // Start, run and results
  void read_initial();
  void read_initial_joint(const Entry& entry);
  void read_initial_body(const Entry& entry);
  void read_coordinate(const Entry& entry);
  void read_coordinate_state(Entries& entries, const Place& place, Body& body);
  void read_initial_coordinate(const Entry& entry);
  void read_keep(const Node& node, const Place& place, Body& body);
  void read_simulation(const Node& node);
  void read_output(const Entry& entry);

  Document& document_;
  ProblemList& problems_;
  const ReadOptions& options_;
  std::deque<Scope> scopes_;
  std::deque<Fragment> fragments_;
  std::unordered_map<std::string, Scope*> scope_of_prefix_;
  std::unordered_map<std::string, const Node*> loaded_;     // subsystem files by path
  std::unordered_map<std::string, MassProperties> meshes_;  // by path, as in the file
  std::string other_texts_;
  bool stop_ = false;
  Scope* current_ = nullptr;
  Values* values_ = nullptr;  // of the current scope
  std::vector<Line> lines_;   // in the order of their entries
  std::size_t line_nodes_ = 0;
  Model model_;
  NameIndex body_index_, frame_index_, joint_index_;
  std::unordered_map<std::string_view, Location> names_;  // of the section being read
};

}  // namespace trammel
