#include "trammel/couple/coupling_file.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "trammel/base/input_file.h"
#include "trammel/base/literal.h"
#include "trammel/couple/model_participant.h"
#include "trammel/couple/part_of_model.h"
#include "trammel/couple/remote_participant.h"
#include "trammel/elements/registry.h"
#include "trammel/read/read_model.h"
#include "trammel/read/values.h"

namespace trammel {
namespace {

constexpr double most_macro_steps = 1e10, most_samples = 1e6;

class CouplingReader {
 public:
  CouplingReader(Document& document, ProblemList& problems)
      : document_(document), problems_(problems), values_(document, problems) {}

  CouplingSpec read(const std::string& path, const CouplingChanges& changes) {
    spec_.file = path;
    const Node& root = document_.root();
    spec_.where = document_.where(root);
    Entries entries(document_, problems_, root, {"coupling file", "", ""});
    if (!entries.good()) return spec_;
    if (const Node* version = entries.need("trammel-coupling"); version != nullptr && version->text != "1")
      error(*version, "wrong-version", "this program reads version 1 of coupling files, not " + quote(version->text),
            "write trammel-coupling: 1");
    if (const Node* title = entries.find("title")) set(spec_.title, values_.text(*title, {"", "", "title"}));
    if (const Node* whole = entries.find("whole")) {
      if (whole->is_mapping()) {
        Entries inside(document_, problems_, *whole, {"whole", "", ""});
        if (const Node* model = inside.need("model")) spec_.whole = file_named(*model, {"whole", "", "model"});
        read_changes(inside, {"whole", "", ""}, spec_.whole_changes);
        inside.finish();
      } else {
        spec_.whole = file_named(*whole, {"", "", "whole"});
      }
    }
    if (const Node* section = entries.need("participants"))
      each(*section, "participant", [&](const Node& k, const Node& v) { read_participant(k, v); });
    if (const Node* cut = entries.find("cut")) spec_.cut = names(*cut, {"", "", "cut"});
    if (const Node* section = entries.find("joints"))
      each(*section, "joint", [&](const Node& k, const Node& v) { read_joint(k, v); });
    const Node* coupling = entries.need("coupling");
    entries.finish();
    if (coupling != nullptr) read_settings(*coupling, changes.options);
    problems_.fail_if_any();
    if (spec_.joints.empty() && spec_.cut.empty())
      error(root, "missing-key", "the coupling file has neither `joints` nor `cut`",
            "name the joints that glue the participants");
    return spec_;
  }

 private:
  void error(const Node& node, const char* id, std::string message, std::string hint = "") {
    problems_.add({Severity::error, id, std::move(message), std::move(hint), document_.where(node)});
  }
  template <class T>
  static void set(T& place, const std::optional<T>& value) {
    if (value) place = *value;
  }
  std::string file_named(const Node& node, const Place& place) {
    const std::optional<std::string> text = values_.text(node, place);
    if (!text) return "";
    return (std::filesystem::path(spec_.file).parent_path() / *text).lexically_normal().string();
  }
  void each(const Node& section, const char* kind, const std::function<void(const Node&, const Node&)>& read) {
    if (!section.is_mapping()) {
      error(section, "wrong-type", std::string(kind) + "s must be a mapping of names", "write NAME: {...} for each");
      return;
    }
    for (std::size_t i = 0; i < section.count; ++i) {
      if (!is_good_name(section.key(i).text))
        error(section.key(i), "bad-name", std::string("a ") + kind + " cannot be called " + quote(section.key(i).text),
              "a letter or _, then letters, digits, _ and -");
      else
        read(section.key(i), section.value(i));
    }
  }
  std::vector<std::string> names(const Node& node, const Place& place) {
    std::vector<std::string> out;
    if (!node.is_sequence()) {
      if (const auto one = values_.text(node, place)) out.push_back(*one);
      return out;
    }
    for (std::size_t i = 0; i < node.count; ++i) {
      if (const auto one = values_.text(node.item(i), place)) out.push_back(*one);
    }
    return out;
  }

  void read_changes(Entries& entries, const Place& place, ModelChanges& changes) {
    if (const Node* node = entries.find("parameters")) {
      for (std::size_t i = 0; node->is_mapping() && i < node->count; ++i)
        changes.set.push_back(std::string(node->key(i).text) + "=" + std::string(node->value(i).text));
    }
    if (const Node* node = entries.find("method")) changes.method = values_.text(*node, place.at("method"));
    if (const Node* node = entries.find("formulation"))
      changes.formulation = values_.text(*node, place.at("formulation"));
    if (const Node* node = entries.find("tolerance"))
      changes.tolerance = values_.number(*node, place.at("tolerance"), Quantity::none);
    if (const Node* node = entries.find("step")) changes.step = values_.number(*node, place.at("step"), Quantity::time);
    if (const Node* node = entries.find("options")) {
      for (std::size_t i = 0; node->is_mapping() && i < node->count; ++i)
        changes.options.push_back(std::string(node->key(i).text) + "=" + std::string(node->value(i).text));
    }
  }

  void read_participant(const Node& key, const Node& node) {
    ParticipantSpec& p = spec_.participants.emplace_back();
    p.name = key.text;
    p.where = document_.where(key);
    const Place place{"participant", p.name, ""};
    Entries entries(document_, problems_, node, place);
    if (!entries.good()) return;
    const Node* model = entries.find("model");
    const Node* bodies = entries.find("bodies");
    const Node* command = entries.find("command");
    if ((model != nullptr) + (bodies != nullptr) + (command != nullptr) != 1)
      error(node, "missing-key", place.text() + " needs one of `model`, `bodies` and `command`",
            "model: FILE, or bodies: [...] of the whole model, or command: [PROGRAM, ...]");
    if (model != nullptr) p.model = file_named(*model, place.at("model"));
    if (bodies != nullptr) p.bodies = names(*bodies, place.at("bodies"));
    if (command != nullptr) p.command = names(*command, place.at("command"));
    for (const Node* list : {bodies, command}) {
      if (list != nullptr && (list == bodies ? p.bodies : p.command).empty())
        error(*list, "no-value", place.text() + ": the list is empty", "name at least one");
    }
    read_changes(entries, place, p.changes);
    entries.finish();
  }

  int interface_frame(const Node& node, const Place& place) {
    const std::optional<std::string> text = values_.text(node, place);
    if (!text) return 0;
    for (std::size_t i = 0; i < spec_.frames.size(); ++i) {
      if (spec_.frames[i].name == *text) return static_cast<int>(i);
    }
    const std::size_t dot = text->find('.');
    InterfaceFrame frame;
    frame.name = *text;
    frame.participant = -1;
    std::vector<std::string> known;
    for (std::size_t p = 0; p < spec_.participants.size(); ++p) {
      known.push_back(spec_.participants[p].name);
      if (dot != std::string::npos && text->substr(0, dot) == known.back()) frame.participant = static_cast<int>(p);
    }
    if (frame.participant < 0) {
      error(node, "unknown-participant", place.text() + ": " + quote(*text) + " names no frame of a participant",
            "write PARTICIPANT.FRAME; participants: " + list_of({known.begin(), known.end()}));
      return 0;
    }
    spec_.frames.push_back(frame);
    return static_cast<int>(spec_.frames.size()) - 1;
  }

  void read_joint(const Node& key, const Node& node) {
    Item& item = spec_.joints.emplace_back();
    item.name = key.text;
    item.where = document_.where(key);
    const Place place{"joint", item.name, ""};
    Entries entries(document_, problems_, node, place);
    if (!entries.good()) return;
    const Node* type = entries.need("type");
    const Node* frames = entries.need("frames");
    if (frames != nullptr) {
      if (!frames->is_sequence() || frames->count != 2) {
        error(*frames, "wrong-type", place.text() + ": `frames` must be a list of two",
              "frames: [first.tip, second.top]");
      } else {
        for (std::size_t i = 0; i < 2; ++i) item.frames.push_back(interface_frame(frames->item(i), place.at("frames")));
      }
    }
    if (type != nullptr) {
      set(item.type, values_.text(*type, place.at("type")));
      const ElementDescription* description = find_element(Category::joint, item.type);
      if (description == nullptr) {
        std::vector<std::string> keys;
        for (const ElementDescription& d : element_registry()) {
          if (d.category == Category::joint) keys.push_back(d.key);
        }
        error(*type, "unknown-type", place.text() + ": there is no type " + quote(item.type),
              did_you_mean(item.type, keys));
        return;
      }
      for (const Field& field : description->fields) {
        if (const Node* value = entries.find(field.name)) {
          if (auto read = values_.field(*value, place.at(field.name), field))
            item.fields.set(field.name, std::move(*read));
        }
      }
    }
    entries.finish();
  }

  // scheme: {inputs: linear, conditions: [{g: 1}, {rate: 1}]}
  void read_own_scheme(const Node& node, CouplingScheme& scheme) {
    const Place place{"scheme", "", ""};
    Entries entries(document_, problems_, node, place);
    if (!entries.good()) return;
    scheme = {};
    if (const Node* inputs = entries.need("inputs")) {
      const auto text = values_.text(*inputs, place.at("inputs"));
      std::vector<std::string> keys;
      bool known = false;
      for (const InputShape shape : all_input_shapes) {
        keys.emplace_back(info(shape).key);
        if (!text || *text != keys.back()) continue;
        scheme.shape = shape;
        known = true;
      }
      if (text && !known)
        error(*inputs, "unknown-choice", "scheme: " + quote(*text) + " is no shape of inputs",
              "one of " + list_of({keys.begin(), keys.end()}));
    }
    if (const Node* continuous = entries.find("continuous")) {
      const auto text = values_.text(*continuous, place.at("continuous"));
      if (text && *text != "true" && *text != "false")
        error(*continuous, "unknown-choice", "scheme: continuous is true or false", "");
      scheme.continuous = text && *text == "true";
      if (scheme.continuous && scheme.shape != InputShape::linear && scheme.shape != InputShape::quadratic)
        error(*continuous, "conflict",
              std::string("scheme: ") + info(scheme.shape).key + " inputs cannot be continuous",
              "take linear or quadratic ones");
    }
    if (const Node* conditions = entries.need("conditions")) {
      if (!conditions->is_sequence() || conditions->count == 0)
        error(*conditions, "wrong-type", "scheme: `conditions` must be a list", "conditions: [{g: 1}, {rate: 1}]");
      for (std::size_t i = 0; conditions->is_sequence() && i < conditions->count; ++i)
        read_condition(conditions->item(i), scheme);
    }
    entries.finish();
    const bool positions = std::any_of(scheme.conditions.begin(), scheme.conditions.end(),
                                       [](const SchemeCondition& c) { return c.position != 0; });
    const int degree = scheme.shape == InputShape::quadratic ? 2 : scheme.shape == InputShape::linear ? 1 : 0;
    scheme.order = positions ? degree + 3 : 2;
  }

  void read_condition(const Node& node, CouplingScheme& scheme) {
    const Place place{"condition", "", ""};
    Entries entries(document_, problems_, node, place);
    if (!entries.good()) return;
    SchemeCondition& c = scheme.conditions.emplace_back(SchemeCondition{1, 0, 0});
    for (const auto& [name, value] : {std::pair{"at", &c.s}, {"g", &c.position}, {"rate", &c.rate}}) {
      if (const Node* number = entries.find(name)) set(*value, values_.number(*number, place.at(name), Quantity::none));
    }
    entries.finish();
    if (!(c.s > 0 && c.s <= 1)) error(node, "out-of-range", "condition: `at` is a part of the step, 0 < at <= 1", "");
    if ((c.position != 0 && c.position != 1) || (c.position == 0 && c.rate == 0))
      error(node, "out-of-range", "condition: `g` is 0 or 1, and with 0 there must be a `rate`",
            "{g: 1} for g = 0, {rate: 1} for g' = 0, {g: 1, rate: 0.5} for g + 0.5 H g' = 0");
    else if (c.position == 0)
      c.rate = 1;
  }

  // The keys of the section; those of the command line come before those of the file.
  struct Keys {
    Entries& entries;
    std::vector<std::pair<std::string, const Node*>> given;
    std::vector<std::string> asked;

    const Node* find(const char* name) {
      asked.emplace_back(name);
      const Node* in_file = entries.find(name);
      for (const auto& [key, node] : given)
        if (key == name) return node;
      return in_file;
    }
  };

  std::vector<std::pair<std::string, const Node*>> given_by(const std::vector<std::string>& changes) {
    std::vector<std::pair<std::string, const Node*>> given;
    for (const std::string& change : changes) {
      const std::size_t equals = change.find('=');
      if (equals == std::string::npos || equals == 0)
        throw Failure({Severity::error,
                       "bad-option",
                       "an option is NAME=VALUE, not '" + change + "'",
                       "for example scheme=linear",
                       {}},
                      ExitCode::bad_usage);
      Node value;
      value.text = document_.keep(std::string_view(change).substr(equals + 1));
      value.line = 0;
      given.emplace_back(change.substr(0, equals), &document_.keep(value));
    }
    return given;
  }

  std::optional<double> positive(Keys& keys, const char* name, Quantity quantity) {
    const Node* value = keys.find(name);
    if (value == nullptr) return {};
    const Place place{"coupling", "", name};
    const auto x = values_.number(*value, place, quantity);
    if (x && !(*x > 0)) error(*value, "not-positive", place.text() + " must be positive", "give a number above 0");
    return x;
  }

  std::optional<std::size_t> choice(Keys& keys, const char* name, const std::vector<std::string>& known) {
    const Node* value = keys.find(name);
    if (value == nullptr) return {};
    const auto text = values_.text(*value, {"coupling", "", name});
    if (!text) return {};
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (*text == known[i]) return i;
    }
    const std::string near = did_you_mean(*text, known);
    error(*value, "unknown-choice", "coupling: " + quote(*text) + " is no " + name,
          near.empty() ? "one of " + list_of({known.begin(), known.end()}) : near);
    return {};
  }

  // A whole number from 0 to `most`.
  std::optional<int> degree(const Node& node, const char* name, int most, const std::string& hint) {
    const auto value = values_.whole_number(node, {"coupling", "", name});
    if (!value) return {};
    if (*value >= 0 && *value <= most) return static_cast<int>(*value);
    const std::string range = most == 2 ? "0, 1 or 2" : "from 0 to " + std::to_string(most);
    error(node, "out-of-range", std::string("coupling: ") + name + " must be " + range, hint);
    return {};
  }

  void read_scheme(const Node& node, Keys& keys) {
    CouplingSettings& s = spec_.settings;
    const Node *scheme = keys.find("scheme"), *theta = keys.find("theta"), *extrapolation = keys.find("extrapolation");
    s.scheme = find_scheme("quadratic", {});
    if (scheme != nullptr && scheme->is_mapping()) {
      read_own_scheme(*scheme, s.scheme);
    } else if (scheme != nullptr) {
      if (const auto key = values_.text(*scheme, {"coupling", "", "scheme"}))
        s.scheme = find_scheme(*key, document_.where(*scheme));
    }
    if (theta != nullptr) {
      const auto value = values_.number(*theta, {"coupling", "", "theta"}, Quantity::none);
      if (s.scheme.key != "theta")
        error(*theta, "unknown-key", "coupling: `theta` belongs to the scheme `theta`", "leave it out");
      else if (value)
        s.scheme = theta_scheme(*value);
    }
    if (extrapolation != nullptr) {
      if (s.scheme.passes == Passes::iterated) {
        error(*extrapolation, "unknown-key",
              "coupling: `extrapolation` belongs to the schemes `jacobi` and `gauss-seidel`", "leave it out");
      } else if (const auto value = degree(*extrapolation, "extrapolation", 2, "")) {
        s.scheme = one_pass_scheme(s.scheme.passes, *value);
      }
    }
    if (problems_.all().empty())
      require_usable(s.scheme, document_.where(theta != nullptr ? *theta : scheme != nullptr ? *scheme : node));
  }

  void read_iteration(Keys& keys, bool once) {
    CouplingSettings& s = spec_.settings;
    const Node *solver = keys.find("solver"), *control = keys.find("error");
    if (const auto i = choice(keys, "solver", {"differences", "compliance", "sensitivity", "broyden", "chord"})) {
      s.solver = static_cast<InterfaceSolver>(*i);
      if (once && s.solver != InterfaceSolver::compliance)
        error(*solver, "conflict", "coupling: the scheme `" + s.scheme.key + "` makes no iterations",
              "leave `solver` out; it works with the participants' compliance");
    }
    set(s.tolerance, positive(keys, "tolerance", Quantity::none));
    set(s.increment, positive(keys, "increment", Quantity::none));
    if (const auto i = choice(keys, "predictor", {"consecutive", "envelope", "automatic"}))
      s.prediction = static_cast<Prediction>(*i);
    if (const Node* node = keys.find("degree")) set(s.degree, degree(*node, "degree", 6, "3 is usual"));
    s.coupling_error = positive(keys, "error", Quantity::none);
    if (once && s.coupling_error)
      error(*control, "conflict",
            "coupling: the scheme `" + s.scheme.key + "` makes each step once and cannot repeat it with a smaller one",
            "leave `error` out, or take an iterated scheme");
  }

  void read_settings(const Node& node, const std::vector<std::string>& changes) {
    CouplingSettings& s = spec_.settings;
    Entries entries(document_, problems_, node, {"coupling", "", ""});
    if (!entries.good()) return;
    Keys keys{entries, given_by(changes), {}};
    set(s.step, positive(keys, "step", Quantity::time));
    set(s.end, positive(keys, "end", Quantity::time));
    read_scheme(node, keys);
    read_iteration(keys, s.scheme.passes != Passes::iterated);
    if (const auto i = choice(keys, "at_jumps", {"restart", "cross"})) s.restart_at_jumps = *i == 0;
    if (const auto i = choice(keys, "output", {"ends", "steps"})) s.output_steps = *i == 1;
    s.output_step = positive(keys, "output_step", Quantity::time);
    set(s.least_step, positive(keys, "least_step", Quantity::time));
    set(s.greatest_step, positive(keys, "greatest_step", Quantity::time));
    set(s.patience, positive(keys, "patience", Quantity::time));
    set(s.save_every, positive(keys, "save_every", Quantity::time));
    if (const auto i = choice(keys, "threads", {"false", "true"})) s.threads = *i == 1;
    if (s.end / s.step > most_macro_steps || (s.output_step && s.step / *s.output_step > most_samples))
      error(node, "too-many-outputs",
            "coupling: more than " + shortest(most_macro_steps) + " macro steps, or more than " +
                shortest(most_samples) + " outputs in one of them",
            "take a larger step or output_step");
    entries.finish();
    for (const auto& [name, value] : keys.given) {
      if (std::find(keys.asked.begin(), keys.asked.end(), name) == keys.asked.end())
        throw Failure({Severity::error,
                       "bad-option",
                       "the section `coupling` has no key '" + name + "'",
                       did_you_mean(name, keys.asked),
                       {}},
                      ExitCode::bad_usage);
    }
  }

  Document& document_;
  ProblemList& problems_;
  Values values_;
  CouplingSpec spec_;
};

// "NAME=VALUE" goes to everybody who has the parameter, "PARTICIPANT.NAME=VALUE" to one.
void distribute(CouplingSpec& spec, const std::vector<std::string>& set) {
  for (const std::string& assignment : set) {
    const std::string name = assignment.substr(0, assignment.find('='));
    bool taken = false;
    for (ParticipantSpec& p : spec.participants) {
      if (name.rfind(p.name + ".", 0) != 0) continue;
      p.changes.set.push_back(assignment.substr(p.name.size() + 1));
      taken = true;
    }
    if (taken) continue;
    const auto has = [&](const std::string& file) {
      if (file.empty()) return false;
      const Model model = read_model(file);
      return std::any_of(model.parameters.begin(), model.parameters.end(),
                         [&](const Parameter& x) { return x.name == name; });
    };
    for (ParticipantSpec& p : spec.participants) {
      if (!has(p.model)) continue;
      p.changes.set.push_back(assignment);
      taken = true;
    }
    if (has(spec.whole)) {
      spec.whole_changes.set.push_back(assignment);
      taken = true;
    }
    if (!taken)
      throw Failure({Severity::error,
                     "unknown-parameter",
                     "no participant has a parameter '" + name + "'",
                     "--set NAME=VALUE or PARTICIPANT.NAME=VALUE",
                     {}},
                    ExitCode::bad_usage);
  }
}

}  // namespace

CouplingSpec read_coupling(const std::string& path, const CouplingChanges& changes) {
  const std::string text = read_whole_file(path);
  note_input(path);
  ProblemList problems;
  Document document(text, path, problems);
  CouplingSpec spec = CouplingReader(document, problems).read(path, changes);
  problems.fail_if_any();
  spec.text = text;
  distribute(spec, changes.set);
  return spec;
}

namespace {

// The whole model of which participants are parts, and its joints to cut there.
struct WholeModel {
  Model model;
  std::vector<int> cut;
  std::vector<int> owner;  // participant of each body; -1: none yet
};

void find_cut_joints(const CouplingSpec& spec, WholeModel& whole) {
  for (const std::string& name : spec.cut) {
    const int joint = whole.model.find_joint(name);
    if (joint < 0) {
      std::vector<std::string> known;
      for (const Item& item : whole.model.joints) known.push_back(item.name);
      throw Failure({Severity::error, "unknown-joint", "cut: the model has no joint '" + name + "'",
                     did_you_mean(name, known), spec.where});
    }
    whole.cut.push_back(joint);
    // Its frames become interfaces, so they need names.
    for (std::size_t side = 0; side < 2; ++side) {
      Frame& frame = whole.model.frames[whole.model.joints[joint].frames[side]];
      if (frame.name.empty()) frame.name = name + (side == 0 ? "_a" : "_b");
    }
  }
}

WholeModel load_whole(const CouplingSpec& spec) {
  WholeModel whole;
  if (spec.whole.empty())
    throw Failure({Severity::error, "missing-key", "participants are parts of a whole model that is not named",
                   "add whole: MODEL.yaml", spec.where});
  whole.model = at_consistent_start(load_model(spec.whole, spec.whole_changes));
  find_cut_joints(spec, whole);
  whole.owner.assign(whole.model.bodies.size(), -1);
  return whole;
}

// The part of the whole with the bodies of participant p.
Model take_part(const ParticipantSpec& participant, int p, WholeModel& whole) {
  std::vector<int> bodies;
  for (const std::string& name : participant.bodies) {
    const int body = whole.model.find_body(name);
    if (body < 0)
      throw Failure({Severity::error, "unknown-body",
                     "participant '" + participant.name + "': the whole model has no body '" + name + "'", "",
                     participant.where});
    if (whole.owner[body] >= 0)
      throw Failure({Severity::error, "duplicate-name", "body '" + name + "' is in two participants", "give it to one",
                     participant.where});
    whole.owner[body] = p;
    bodies.push_back(body);
  }
  Model part = part_of_model(whole.model, bodies, whole.cut);
  ModelChanges changes = participant.changes;
  changes.set.clear();
  apply_changes(part, changes);
  return part;
}

// A joint that is cut glues participants: its frames become frames of the interface.
void glue_at(int joint, const WholeModel& whole, CouplingSpec& spec) {
  Item item = whole.model.joints[joint];
  if (item.frames.size() != 2)
    throw Failure({Severity::error, "joint-not-gluable",
                   "joint '" + item.name + "': a " + item.type + " acts on more than two frames",
                   "keep it in one participant", item.where});
  for (int& frame : item.frames) {
    const Frame& f = whole.model.frames[frame];
    if (f.body == ground)
      throw Failure({Severity::error, "joint-not-gluable",
                     "joint '" + item.name + "' holds a body to the ground, which every participant has",
                     "cut at joints between moving bodies", item.where});
    const int p = whole.owner[f.body];
    const std::string name = spec.participants[p].name + "." + f.name;
    const auto known =
        std::find_if(spec.frames.begin(), spec.frames.end(), [&](const InterfaceFrame& i) { return i.name == name; });
    frame = static_cast<int>(known - spec.frames.begin());
    if (known == spec.frames.end()) spec.frames.push_back({p, 0, name});
  }
  spec.joints.push_back(std::move(item));
}

}  // namespace

std::vector<Model> participant_models(CouplingSpec& spec) {
  std::vector<Model> models(spec.participants.size());
  const bool parts =
      std::any_of(spec.participants.begin(), spec.participants.end(), [](const auto& p) { return !p.bodies.empty(); });
  WholeModel whole;
  if (parts || !spec.cut.empty()) whole = load_whole(spec);
  for (std::size_t p = 0; p < spec.participants.size(); ++p) {
    const ParticipantSpec& participant = spec.participants[p];
    if (!participant.bodies.empty()) {
      models[p] = take_part(participant, static_cast<int>(p), whole);
    } else if (!participant.model.empty()) {
      models[p] = load_model(participant.model, participant.changes);
    }
    models[p].simulation.end = spec.settings.end;
  }
  for (std::size_t b = 0; b < whole.owner.size(); ++b) {
    if (parts && whole.owner[b] < 0)
      throw Failure({Severity::error, "part-not-separate",
                     "body '" + whole.model.bodies[b].name + "' of the whole model is in no participant",
                     "list it under one", spec.where});
  }
  for (const int joint : whole.cut) glue_at(joint, whole, spec);
  spec.cut.clear();
  // The frames of each participant, numbered.
  std::vector<int> count(spec.participants.size(), 0);
  for (InterfaceFrame& frame : spec.frames) frame.frame = count[frame.participant]++;
  return models;
}

namespace {

std::vector<std::string> frames_of_participant(const CouplingSpec& spec, int index) {
  std::vector<std::string> names;
  for (const InterfaceFrame& frame : spec.frames) {
    if (frame.participant == index) names.push_back(frame.name.substr(spec.participants[index].name.size() + 1));
  }
  return names;
}

}  // namespace

std::unique_ptr<Participant> make_participant(const CouplingSpec& spec, int index, Model model, const MakeSink& sink) {
  const ParticipantSpec& participant = spec.participants[index];
  const InputShape shape = spec.settings.scheme.shape;
  std::vector<std::string> frames = frames_of_participant(spec, index);
  if (!participant.command.empty()) {
    return std::make_unique<RemoteParticipant>(
        start_process(participant.command, participant.name, spec.settings.patience, spec.settings.stop),
        participant.name, frames, shape, spec.settings.end);
  }
  ModelParticipant::Options options;
  options.name = participant.name;
  options.shape = shape;
  options.frames = std::move(frames);
  if (sink) options.sink = sink(participant.name);
  return std::make_unique<ModelParticipant>(std::move(model), std::move(options));
}

std::unique_ptr<Coupling> make_coupling(CouplingSpec spec, const MakeSink& sink,
                                        const std::function<std::unique_ptr<Channel>(int index)>& elsewhere) {
  std::vector<Model> models = participant_models(spec);
  std::vector<std::unique_ptr<Participant>> participants;
  for (int p = 0; p < static_cast<int>(models.size()); ++p) {
    std::unique_ptr<Channel> line = elsewhere ? elsewhere(p) : nullptr;
    if (line) {
      participants.push_back(std::make_unique<RemoteParticipant>(std::move(line), spec.participants[p].name,
                                                                 frames_of_participant(spec, p),
                                                                 spec.settings.scheme.shape, spec.settings.end));
    } else {
      participants.push_back(make_participant(spec, p, std::move(models[p]), sink));
    }
  }
  return std::make_unique<Coupling>(std::move(participants), spec.frames, spec.joints, spec.settings);
}

}  // namespace trammel
