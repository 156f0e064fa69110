// From the files of a model to its fragments: includes are followed, repetitions run through, subsystems put in.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "trammel/base/input_file.h"
#include "trammel/base/literal.h"
#include "trammel/read/model_reader.h"

namespace trammel {
namespace {

constexpr long most_repeats = 200'000;
constexpr std::size_t most_fragments = 200'000;
constexpr std::size_t most_subsystems = 20'000;  // uses of them; each has units, parameters and names of its own
constexpr int deepest_subsystem = 16;
constexpr int deepest_repeat = 8;

// Parts of a block that are not read with the block's own names.
bool is_kept_as_written(std::string_view key) {
  static constexpr std::array<std::string_view, 15> keys = {"trammel", "title",     "include",    "units", "parameters",
                                                            "repeat",  "interface", "subsystems", "needs", "index",
                                                            "from",    "to",        "step",       "when",  "values"};
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Pose operator*(const Pose& outer, const Pose& inner) {
  return {outer.position + outer.rotation * inner.position, outer.rotation * inner.rotation};
}

}  // namespace

void ModelReader::activate(Scope& scope, Values::Bound* bound) {
  current_ = &scope;
  values_ = &scope.values;
  values_->bind(bound != nullptr && bound->empty() ? nullptr : bound);
}

void ModelReader::activate(Fragment& fragment) {
  activate(*fragment.scope, &fragment.bound);
  problems_.set_context(fragment.context);
}

// ---- Files
// -----------------------------------------------------------------------------------------------------------

std::string ModelReader::resolve(std::string_view path, const Node& node) const {
  const std::filesystem::path named{std::string(path)};
  if (named.is_absolute()) return named.lexically_normal().string();
  const std::filesystem::path from(*document_.where(node).file);
  return (from.parent_path() / named).lexically_normal().string();
}

std::string ModelReader::load_text(const std::string& path, const Node& node, const Place& place, bool& good) {
  std::error_code ignored;
  if (!options_.open && std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored) &&
      !std::filesystem::is_directory(path, ignored)) {
    good = false;  // a device or a pipe may never end
    values_->error(node, "not-a-file", place.text() + ": " + quote(path) + " is not an ordinary file", "name a file");
    return {};
  }
  try {
    good = true;
    if (options_.open) return options_.open(path);
    note_input(path);
    return read_whole_file(path);
  } catch (const Failure& failure) {
    good = false;
    const Problem& problem = failure.problems().front();
    values_->error(node, problem.id.c_str(), place.text() + ": " + quote(path) + ": " + problem.message, problem.hint);
    return {};
  }
}

const Node* ModelReader::load_file(const Node& node, const Place& place, std::string* path) {
  const std::optional<std::string> name = values_->text(node, place);
  if (!name) return nullptr;
  *path = resolve(*name, node);
  const auto before = loaded_.find(*path);
  if (before != loaded_.end()) return before->second;
  bool good = false;
  const std::string text = load_text(*path, node, place, good);
  if (!good) return nullptr;
  const Node& root = document_.add(text, *path, problems_);
  other_texts_ += "\n# ---- file " + *path + "\n" + text;
  loaded_.emplace(*path, &root);
  return &root;
}

void ModelReader::read_version(const Node& root) {
  const Node* node = root.find("trammel");
  if (node == nullptr) {
    values_->error(root, "missing-key", "the file does not say that it is a model: 'trammel' is missing",
                   "start it with `trammel: 1`");
  } else if (!node->is_scalar() || node->text != "1") {
    values_->error(*node, "wrong-version", "the format version must be 1", "this program reads `trammel: 1`");
  }
}

// `chain` holds the files that are being included, outermost first.
void ModelReader::gather(Scope& scope, const Node& root, Rule rule, std::vector<std::string>& chain) {
  if (!root.is_mapping()) {
    values_->error(root, "wrong-type", "a model file must be a mapping of sections", "it starts with `trammel: 1`");
    return;
  }
  const Place place{rule == Rule::file ? "model file" : "subsystem",
                    rule == Rule::file ? std::string_view{} : scope.definition_name, ""};
  Entries entries = values_->mapping(root, place, rule);
  const Node* included = nullptr;
  for (const Key& key : keys_of(rule)) {
    const Node* found = entries.find(key.name);
    if (key.name == "include") included = found;
  }
  if (rule == Rule::file) read_version(root);
  entries.finish();
  scope.sources.push_back(&root);
  if (included == nullptr || included->is_null()) return;
  if (included->is_sequence()) {
    for (std::size_t i = 0; i < included->count; ++i) include(scope, included->item(i), chain);
  } else {
    include(scope, *included, chain);
  }
}

void ModelReader::include(Scope& scope, const Node& node, std::vector<std::string>& chain) {
  const Place place{"include", "", ""};
  const std::optional<std::string> name = values_->text(node, place);
  if (!name) return;
  const std::string path = resolve(*name, node);
  const auto open = std::find(chain.begin(), chain.end(), path);
  if (open != chain.end()) {
    std::string circle;
    for (auto file = open; file != chain.end(); ++file) circle += *file + " -> ";
    values_->error(node, "include-cycle", "include: the file includes itself: " + circle + path,
                   "remove one of the includes");
    return;
  }
  if (std::find(scope.files.begin(), scope.files.end(), path) != scope.files.end()) return;  // once is enough
  scope.files.push_back(path);
  bool good = false;
  const std::string text = load_text(path, node, place, good);
  if (!good) return;
  const Node& root = document_.add(text, path, problems_);
  other_texts_ += "\n# ---- file " + path + "\n" + text;
  chain.push_back(path);
  gather(scope, root, Rule::file, chain);
  chain.pop_back();
}

// ---- A space of names
// --------------------------------------------------------------------------------------------------

void ModelReader::read_names(const Node* node, const Place& place, std::vector<std::string_view>& names) {
  if (node == nullptr || node->is_null()) return;
  if (!node->is_sequence()) {
    values_->error(*node, "wrong-type", place.text() + " must be a list of names", "write [name, name]");
    return;
  }
  for (std::size_t i = 0; i < node->count; ++i) {
    const Node& item = node->item(i);
    if (!item.is_scalar() || item.is_null()) {
      values_->error(item, "wrong-type", place.text() + " must be a list of names", "write [name, name]");
    } else {
      names.push_back(item.text);
    }
  }
}

void ModelReader::add_definitions(Scope& scope, const Node& node) {
  each_entry(node, "subsystem", false, [&](const Entry& entry) {
    if (entry.node.is_mapping()) {
      scope.subsystems.emplace(entry.name, Definition{&entry.node, &scope});
    } else {
      values_->error(entry.node, "wrong-type", "subsystem " + quote(entry.name) + " must be a mapping",
                     "give its sections, or {file: name.yaml}");
    }
  });
}

// Units, parameters and definitions of all its files; then its fragments.
void ModelReader::set_up(Scope& scope, const Values::Bound& given) {
  const bool top = scope.parent == nullptr;
  std::vector<const Node*> parameters;
  std::array<const Node*, 3> single{};  // title, gravity, simulation
  static constexpr std::array<std::string_view, 3> single_names = {"title", "gravity", "simulation"};
  for (std::size_t s = 0; s < scope.sources.size(); ++s) {
    const Node& root = *scope.sources[s];
    if (s == 0) {
      if (const Node* units = root.find("units")) scope.values.read_units(units);
    } else {
      Values own(document_, problems_);
      own.read_units(root.find("units"));
      if (!own.same_units(scope.values)) {
        values_->error(root, "unit-conflict", "the file is in other units than the file that includes it",
                       "write the same section `units` in both");
      }
    }
    if (const Node* found = root.find("parameters")) parameters.push_back(found);
    if (const Node* found = root.find("subsystems")) add_definitions(scope, *found);
    if (const Node* found = root.find("interface")) {
      scope.has_interface = true;
      read_names(found, {"interface", "", ""}, scope.interface);
    }
    if (const Node* found = root.find("needs")) {
      read_names(found, {"needs", "", ""}, scope.needs);
      if (top && !scope.needs.empty()) {
        values_->error(
            *found, "not-connected",
            "this model needs " + quote(scope.needs.front()) + " from outside, so it can only be used as a subsystem",
            "put it into another model with `use`");
      }
    }
    for (std::size_t i = 0; i < single.size(); ++i) {
      const Node* found = root.find(single_names[i]);
      if (found == nullptr || !top) continue;  // those of a subsystem's file are for running it alone
      if (single[i] != nullptr) {
        const Location first = document_.where(*single[i]);
        values_->error(*found, "duplicate-key", quote(single_names[i]) + " is given in two files",
                       "the other is " + *first.file + ":" + std::to_string(first.line));
      }
      single[i] = found;
    }
  }
  scope.values.read_parameters(parameters,
                               top ? options_.parameters : std::vector<std::pair<std::string, std::string>>{}, given);
  for (const std::string_view name : scope.needs) {
    if (!top && scope.connections.count(name) == 0) {
      stop_ = true;  // what attaches to it would say the same again
      values_->error(*scope.sources.front(), "not-connected",
                     "subsystem " + quote(scope.prefix.substr(0, scope.prefix.size() - 1)) + " needs " + quote(name),
                     "say what it stands for where the subsystem is used: connect: {" + std::string(name) + ": ...}");
    }
  }
  if (single[0] != nullptr) model_.title = values_->text(*single[0], {"title", "", ""}).value_or("");
  if (single[1] != nullptr) {
    set(model_.gravity, values_->vector(*single[1], {"gravity", "", ""}, Quantity::acceleration));
  }
  if (single[2] != nullptr && !single[2]->is_null()) read_simulation(*single[2]);

  const std::size_t first = fragments_.size();
  for (const Node* root : scope.sources) {
    activate(scope, nullptr);
    fragments_.push_back({&scope, &prepared(*root), {}, "", false});
    if (const Node* repeat = root->find("repeat")) unfold_repeat(scope, *repeat, {}, "");
  }
  unfold_uses(first);
}

// The block with $(...) replaced in the sections that are read with its names.
const Node& ModelReader::prepared(const Node& block) {
  if (!block.templated || !block.is_mapping()) return block;
  const std::size_t before = problems_.all().size();
  Node copy = block;
  std::vector<Node> children;
  for (std::size_t i = 0; i < block.count; ++i) {
    const bool plain = is_kept_as_written(block.key(i).text);
    children.push_back(block.key(i));
    children.push_back(plain ? block.value(i) : values_->instantiate(block.value(i)));
  }
  copy.first = document_.keep(children.data(), children.size());
  if (problems_.all().size() > before) stop_ = true;  // names that are not known would cause more
  return document_.keep(copy);
}

// ---- Repetition
// --------------------------------------------------------------------------------------------------------

void ModelReader::unfold_repeat(Scope& scope, const Node& node, const Values::Bound& outer,
                                const std::string& context) {
  if (node.is_null()) return;
  if (std::count(context.begin(), context.end(), '=') >= deepest_repeat) {
    values_->error(node, "too-deep", "repetitions are nested too deep", "use fewer indices");
    return;
  }
  if (!node.is_sequence()) {
    unfold_block(scope, node, outer, context);
    return;
  }
  for (std::size_t i = 0; i < node.count && !stop_; ++i) unfold_block(scope, node.item(i), outer, context);
}

// The values that the index takes.
bool ModelReader::repeat_values(const Node& index, Entries& entries, const Place& place, Values::Bound& values) {
  const Node* from = entries.find("from");
  const Node* to = entries.find("to");
  const Node* step = entries.find("step");
  const Node* list = entries.find("values");
  Values::Known known;
  known.name = index.text;
  known.where = values_->where(index);
  known.good = known.pure = true;
  const auto add = [&](double value) {
    known.value = known.si_value = value;
    values.push_back(known);
  };
  if ((list != nullptr) == (to != nullptr) || (list != nullptr && (from != nullptr || step != nullptr))) {
    values_->error(index, to == nullptr ? "missing-key" : "conflict",
                   place.text() + ": give either `to` (and `from`, `step`) or `values`",
                   "write {index: i, from: 1, to: 10} or {index: side, values: [left, right]}");
    return false;
  }
  if (list != nullptr) {
    if (!list->is_sequence()) {
      values_->error(*list, "wrong-type", place.text() + ": values must be a list", "write [1, 2, 5] or [left, right]");
      return false;
    }
    for (std::size_t i = 0; i < list->count; ++i) {
      const Node& item = list->item(i);
      const bool is_text =
          item.is_scalar() && !item.is_null() && is_good_name(item.text) && !values_->has_parameter(item.text);
      known.is_text = is_text;
      known.text = is_text ? std::string(item.text) : "";
      if (is_text) {
        add(0);
      } else if (const auto value = values_->number(item, place.at("values"), Quantity::none)) {
        add(*value);
      } else {
        return false;
      }
    }
    return true;
  }
  const auto first = from == nullptr ? std::optional<long>(1) : values_->whole_number(*from, place.at("from"));
  const auto last = values_->whole_number(*to, place.at("to"));
  const auto by = step == nullptr ? std::optional<long>(1) : values_->whole_number(*step, place.at("step"));
  if (!first || !last || !by) return false;
  if (*by == 0) {
    values_->error(*step, "zero-step", place.text() + ": step is 0, so it would never end", "give 1 or -1");
    return false;
  }
  const long count = (*last - *first) / *by + 1;
  if ((*by > 0) == (*last >= *first) && count > most_repeats) {
    values_->error(*to, "too-large", place.text() + " runs " + std::to_string(count) + " times",
                   "at most " + std::to_string(most_repeats) + " are possible");
    return false;
  }
  for (long i = *first; *by > 0 ? i <= *last : i >= *last; i += *by) add(static_cast<double>(i));
  return true;
}

void ModelReader::unfold_block(Scope& scope, const Node& block, const Values::Bound& outer,
                               const std::string& context) {
  Values::Bound bound = outer;
  activate(scope, &bound);
  problems_.set_context(context);
  const Node* index = block.find("index");
  const Place place{"repeat", index != nullptr && index->is_scalar() ? index->text : std::string_view{}, ""};
  Entries entries = values_->mapping(block, place, Rule::repeat);
  if (!entries.good()) return;
  entries.need("index");
  const Node* when = entries.find("when");
  const Node* parameters = entries.find("parameters");
  const Node* inner = entries.find("repeat");
  for (const Key& key : keys_of(Rule::repeat)) entries.find(key.name);
  const std::size_t before = problems_.all().size();
  entries.finish();
  if (index == nullptr || problems_.all().size() > before) return;
  if (!index->is_scalar() || index->is_null()) {
    values_->error(*index, "wrong-type", "repeat: index must be a name", "write index: i");
    return;
  }
  if (!values_->check_parameter_name(*index, "index")) return;
  const bool taken = values_->has_parameter(index->text) ||
                     std::any_of(outer.begin(), outer.end(), [&](const auto& k) { return k.name == index->text; });
  if (taken) {
    values_->error(*index, "duplicate-name", "index " + quote(index->text) + ": a parameter or index has this name",
                   "choose another name");
    return;
  }
  Values::Bound values;
  if (!repeat_values(*index, entries, place, values)) return;
  for (Values::Known& value : values) {
    bound = outer;
    const std::string shown = value.is_text ? value.text : shortest(value.value);
    const std::string now = (context.empty() ? "" : context + ", ") + std::string(index->text) + " = " + shown;
    bound.push_back(value);
    activate(scope, &bound);
    problems_.set_context(now);
    if (when != nullptr) {
      const auto wanted = values_->condition(*when, place.at("when"));
      if (!wanted) break;
      if (!*wanted) continue;
    }
    if (parameters != nullptr) {
      Values::Bound local = values_->read_local_parameters(*parameters, "local parameter");
      bound.insert(bound.end(), local.begin(), local.end());
    }
    if (fragments_.size() >= most_fragments) {
      values_->error(block, "too-large", "the repetitions of the model run too often",
                     "at most " + std::to_string(most_fragments) + " times in all");
      break;
    }
    activate(scope, &bound);
    fragments_.push_back({&scope, &prepared(block), bound, now, true});
    if (inner != nullptr) unfold_repeat(scope, *inner, bound, now);
    if (problems_.all().size() > before || stop_) break;
  }
  if (problems_.all().size() > before) stop_ = true;
  problems_.set_context(context);
}

// ---- Subsystems
// --------------------------------------------------------------------------------------------------------

void ModelReader::unfold_uses(std::size_t first) {
  names_.clear();
  const std::size_t end = fragments_.size();  // those of the subsystems have their own uses followed by set_up
  std::vector<std::pair<std::size_t, const Node*>> uses;
  for (std::size_t i = first; i < end; ++i) {
    if (const Node* use = fragments_[i].node->find("use")) uses.emplace_back(i, use);
  }
  std::unordered_map<std::string_view, Location> names;
  for (const auto& [fragment, node] : uses) {
    if (stop_) return;
    const std::size_t before = problems_.all().size();
    activate(fragments_[fragment]);
    names_.swap(names);
    std::vector<std::pair<const Node*, const Node*>> entries;
    each_entry(*node, "use", true, [&](const Entry& entry) { entries.emplace_back(&entry.key, &entry.node); });
    names_.swap(names);
    for (const auto& entry : entries) {
      if (stop_) return;
      activate(fragments_[fragment]);
      unfold_use(*entry.first, *entry.second);
    }
    if (fragments_[fragment].repeated && problems_.all().size() > before) stop_ = true;
  }
  problems_.set_context("");
}

ModelReader::Definition ModelReader::find_definition(const Node& node, const Place& place) {
  std::vector<std::string> names;
  for (const Scope* scope = current_; scope != nullptr; scope = scope->parent) {
    const auto found = scope->subsystems.find(node.text);
    if (found != scope->subsystems.end()) return found->second;
    for (const auto& each : scope->subsystems) names.emplace_back(each.first);
  }
  std::sort(names.begin(), names.end());
  const std::string hint = did_you_mean(node.text, names);
  values_->error(node, "unknown-subsystem", place.text() + ": there is no subsystem " + quote(node.text),
                 hint.empty() ? "define it under `subsystems`, or name a `file`" : hint);
  return {};
}

struct ModelReader::Use {
  const Node& key;
  std::string full;  // its name in the model
  const Node *name = nullptr, *file = nullptr;
  const Node *parameters = nullptr, *inputs = nullptr, *connect = nullptr;
  const Node *position = nullptr, *orientation = nullptr;
  // What is put in, found by find_source.
  Definition definition = {};
  Rule rule = Rule::subsystem;
  std::string path = {};  // of its file; empty: none
  const Node* root = nullptr;

  Place place() const { return {"use", full, ""}; }
  std::string_view source_name() const { return name != nullptr ? name->text : std::string_view(path); }
};

bool ModelReader::read_use(const Node& node, Use& use) {
  const Place place = use.place();
  Entries entries = values_->mapping(node, place, Rule::use);
  if (!entries.good()) return false;
  use.name = entries.find("subsystem");
  use.file = entries.find("file");
  use.parameters = entries.find("parameters");
  use.inputs = entries.find("inputs");
  use.connect = entries.find("connect");
  use.position = entries.find("position");
  use.orientation = entries.find("orientation");
  entries.finish();
  if ((use.name == nullptr) == (use.file == nullptr)) {
    values_->error(use.key, use.name == nullptr ? "missing-key" : "conflict",
                   place.text() + ": give either 'subsystem' or 'file'", "subsystem names one under `subsystems`");
    return false;
  }
  return true;
}

// The sections that are put in: under `subsystems`, or in a file that is named there or in the use itself.
bool ModelReader::find_source(Use& use) {
  const Place place = use.place();
  use.definition = {nullptr, current_};
  if (use.name != nullptr) {
    if (!use.name->is_scalar() || use.name->is_null()) {
      values_->error(*use.name, "wrong-type", place.text() + ": subsystem must be a name", "");
      return false;
    }
    use.definition = find_definition(*use.name, place);
    if (use.definition.node == nullptr) return false;
    use.file = use.definition.node->find("file");
    if (use.file != nullptr && use.definition.node->count > 1) {
      values_->error(*use.definition.node, "conflict",
                     "subsystem " + quote(use.name->text) + ": 'file' and sections of its own are both given",
                     "put everything into the file");
      return false;
    }
  }
  use.root = use.definition.node;
  if (use.file != nullptr) {
    use.rule = Rule::file;
    use.root = load_file(*use.file, place.at("file"), &use.path);
  }
  return use.root != nullptr;
}

// A subsystem that is part of itself, or too many of them, would unfold without end.
bool ModelReader::check_nesting(const Use& use) {
  const Place place = use.place();
  std::string chain_text(use.source_name());
  for (const Scope* scope = current_; scope != nullptr; scope = scope->parent) {
    if (scope->definition == use.root || (scope->parent == nullptr && use.root == &document_.root())) {
      values_->error(use.name != nullptr ? *use.name : *use.file, "subsystem-cycle",
                     place.text() + ": the subsystem is part of itself: " +
                         std::string(scope->definition_name.empty() ? "the model" : scope->definition_name) + " -> " +
                         chain_text,
                     "a part cannot contain its whole; use `repeat` for chains and trees");
      return false;
    }
    if (!scope->definition_name.empty()) chain_text = std::string(scope->definition_name) + " -> " + chain_text;
  }
  if (current_->depth >= deepest_subsystem) {
    values_->error(use.key, "too-deep", place.text() + ": subsystems are nested too deep", "");
    return false;
  }
  if (scopes_.size() > most_subsystems) {
    values_->error(use.key, "too-large", place.text() + ": the subsystems of the model unfold without end",
                   "at most " + std::to_string(most_subsystems) + " are put in; use fewer inside each other");
    stop_ = true;
    return false;
  }
  return true;
}

// The space of names of a use, standing in the current one: its place in the world, and what it is given. Parameters go
// to `given`, since its own are not known yet.
ModelReader::Scope& ModelReader::add_scope(const Use& use, Values::Bound& given) {
  const Place place = use.place();
  Scope* const outer = current_;
  Scope& inner = scopes_.emplace_back(document_, problems_);
  inner.parent = outer;
  inner.depth = outer->depth + 1;
  inner.prefix = use.full + ".";
  inner.definition = use.root;
  inner.definition_name = document_.keep(use.source_name());
  scope_of_prefix_.emplace(inner.prefix, &inner);
  Pose local;
  if (use.position != nullptr) {
    set(local.position, values_->vector(*use.position, place.at("position"), Quantity::length, true));
  }
  if (use.orientation != nullptr) {
    set(local.rotation, values_->orientation(*use.orientation, place.at("orientation")));
  }
  inner.pose = outer->pose * local;
  if (use.parameters != nullptr) given = values_->read_local_parameters(*use.parameters, "parameter");
  if (use.inputs != nullptr && !use.inputs->is_null()) {
    each_entry(*use.inputs, "input", false, [&](const Entry& entry) {
      inner.given_inputs.push_back(
          {entry.key.text, &entry.node, outer, values_->bound() == nullptr ? Values::Bound{} : *values_->bound()});
    });
  }
  if (use.connect != nullptr && !use.connect->is_null()) {
    each_entry(*use.connect, "connection", false, [&](const Entry& entry) {
      if (!entry.node.is_scalar() || entry.node.is_null()) {
        values_->error(entry.node, "wrong-type", place.text() + ": connect must give the name of a body or frame", "");
      } else {
        inner.connections.emplace(entry.key.text, full_name(entry.node.text));
      }
    });
  }
  inner.values.set_private(
      [this, &inner](std::string_view text, bool is_place) { return qualify(inner, text, is_place); });
  if (use.rule == Rule::subsystem) inner.values.take_units(use.definition.scope->values);
  return inner;
}

void ModelReader::check_connections(const Use& use, const Scope& inner, Scope& outer) {
  for (const auto& each : inner.connections) {
    if (std::find(inner.needs.begin(), inner.needs.end(), each.first) != inner.needs.end()) continue;
    activate(outer, nullptr);
    std::string hint = did_you_mean(each.first, {inner.needs.begin(), inner.needs.end()});
    if (hint.empty()) hint = inner.needs.empty() ? "it needs nothing" : "it needs: " + list_of(inner.needs);
    values_->error(*use.connect, "unknown-key",
                   use.place().text() + ": the subsystem does not need " + quote(each.first), hint);
  }
}

void ModelReader::unfold_use(const Node& key, const Node& node) {
  Use use{key, current_->prefix + std::string(key.text)};
  if (!read_use(node, use) || !find_source(use) || !check_nesting(use)) return;
  Scope& outer = *current_;
  Values::Bound given;
  Scope& inner = add_scope(use, given);
  const std::size_t before = problems_.all().size();
  activate(inner, nullptr);
  std::vector<std::string> chain;
  if (!use.path.empty()) {
    chain.push_back(use.path);
    inner.files.push_back(use.path);
  }
  gather(inner, *use.root, use.rule, chain);
  if (problems_.all().size() > before) return;
  set_up(inner, given);
  check_connections(use, inner, outer);
}

// ---- Names
// -------------------------------------------------------------------------------------------------------------

std::string ModelReader::qualify(const Scope& scope, std::string_view name, bool is_place) const {
  if (!is_place) {
    const auto input = scope.input_texts.find(std::string(name));
    return input == scope.input_texts.end() ? std::string(name) : input->second;
  }
  if (name == "ground") return "ground";
  const auto connected = scope.connections.find(name);
  return connected == scope.connections.end() ? scope.prefix + std::string(name) : connected->second;
}

std::string ModelReader::full_name(std::string_view name) const {
  return current_->parent == nullptr ? std::string(name) : qualify(*current_, name, true);
}

// A name with a dot reaches into a subsystem; its interface says what may be reached.
void ModelReader::check_visible(const Node& node, const Place& place) {
  const std::size_t dot = node.text.find('.');
  if (dot == std::string_view::npos) return;
  const auto found = scope_of_prefix_.find(current_->prefix + std::string(node.text.substr(0, dot + 1)));
  if (found == scope_of_prefix_.end() || !found->second->has_interface) return;
  const std::vector<std::string_view>& interface = found->second->interface;
  const std::string_view inside = node.text.substr(dot + 1);
  if (std::find(interface.begin(), interface.end(), inside) != interface.end()) return;
  std::string hint = did_you_mean(inside, {interface.begin(), interface.end()});
  if (hint.empty()) hint = "its interface: " + list_of(interface);
  values_->error(node, "not-in-interface",
                 place.text() + ": " + quote(inside) + " is not in the interface of " + quote(node.text.substr(0, dot)),
                 hint);
}

bool ModelReader::check_section(const Node& section, std::string_view kind) {
  if (section.is_null()) return false;
  if (section.is_mapping()) return true;
  const std::string what(kind);
  values_->error(section, "wrong-type", "the section of each " + what + " must be a mapping of names",
                 "write `name: {...}` for each " + what + ", without '- '");
  return false;
}

// The value of an entry, without its `when`; nullptr if it is not wanted.
const Node* ModelReader::check_entry(const Node& key, const Node& value, std::string_view kind, bool defines) {
  if (!key.is_scalar() || (key.text == "<<" && !key.quoted)) return nullptr;  // reported with the document
  const std::string what(kind);
  const Node* result = &value;
  if (value.is_mapping()) {
    if (const Node* when = value.find("when"); when != nullptr && defines) {
      const auto wanted = values_->condition(*when, {kind, key.text, "when"});
      if (!wanted || !*wanted) return nullptr;
      Node copy = value;
      std::vector<Node> children;
      for (std::size_t i = 0; i < value.count; ++i) {
        if (&value.value(i) == when) continue;
        children.push_back(value.key(i));
        children.push_back(value.value(i));
      }
      copy.count = static_cast<std::uint32_t>(children.size() / 2);
      copy.first = document_.keep(children.data(), children.size());
      result = &document_.keep(copy);
    }
  }
  const bool dotted = !defines && key.text.find('.') != std::string_view::npos;
  if (!dotted && !is_good_name(key.text)) {
    values_->error(key, "bad-name", what + " " + quote(key.text) + ": this is not a good name",
                   key.text.find("${") != std::string_view::npos
                       ? "an expression in a name is written $(i), with round brackets"
                       : "use letters, digits, _ and -, with a letter first");
  }
  if (!defines) return result;
  const std::string_view name =
      current_->prefix.empty() ? key.text : document_.keep(current_->prefix + std::string(key.text));
  const auto [before, fresh] = names_.emplace(name, values_->where(key));
  if (fresh) return result;
  const Location at = values_->where(key), first = before->second;
  const auto same = [](const Location& x, const Location& y) {
    return x.file == y.file && x.line == y.line && x.column == y.column;
  };
  const auto& all = problems_.all();
  if (std::any_of(all.begin(), all.end(),
                  [&](const Problem& p) { return p.id == "duplicate-key" && same(p.where, at); })) {
    return result;
  }
  if (same(at, first)) {
    values_->error(key, "duplicate-name", what + " " + quote(name) + ": the repetition makes it twice",
                   "put the index into its name: " + std::string(key.text) + "$(i)");
  } else {
    values_->error(
        key, "duplicate-name",
        what + " " + quote(name) + ": the name is taken; first in " + *first.file + ":" + std::to_string(first.line),
        "rename one of them");
  }
  return nullptr;
}

}  // namespace trammel
