#include "trammel/read/read_flexible.h"

#include <algorithm>
#include <cmath>

#include "trammel/base/literal.h"
#include "trammel/flexible/section_stress.h"
#include "trammel/linalg/eigenvalues.h"

namespace trammel {
namespace {

constexpr int most_elements = 5000, most_modes = 600;

class FlexibleReader {
 public:
  FlexibleReader(Values& values, const Place& body) : values_(values), body_(body) {}

  void read(const Node& node, Body& body, std::vector<Shape>& shapes) {
    Entries entries = values_.mapping(node, body_.at("flexible"), Rule::flexible);
    if (!entries.good()) return;
    const Node* materials = entries.need("materials");
    const Node* sections = entries.need("sections");
    const Node* nodes = entries.need("nodes");
    const Node* beams = entries.need("beams");
    const Node* lumped = entries.find("lumped_masses");
    const Node* element_length = entries.find("element_length");
    const Node* interfaces = entries.need("interfaces");
    const Node* normal_modes = entries.find("normal_modes");
    const Node* ratios = entries.find("damping_ratios");
    const Node* bands = entries.find("damping_bands");
    const Node* stress = entries.find("stress");
    entries.finish();
    if (materials != nullptr) read_materials(*materials);
    if (sections != nullptr) read_sections(*sections);
    if (nodes != nullptr) read_nodes(*nodes);
    if (beams != nullptr) read_beams(*beams);
    if (lumped != nullptr) read_each(*lumped, "lumped_masses", [&](const Node& each) { read_lump(each); });
    if (element_length != nullptr) read_element_length(*element_length);
    if (interfaces != nullptr) read_interfaces(*interfaces);
    if (normal_modes != nullptr) read_normal_modes(*normal_modes);
    read_damping(ratios, bands);
    if (stress != nullptr) read_stress(*stress);
    normal_modes_node_ = normal_modes;
    interfaces_node_ = interfaces;
    ratios_node_ = ratios;
    if (!good_ || materials == nullptr || sections == nullptr || nodes == nullptr || beams == nullptr ||
        interfaces == nullptr)
      return;
    finish(node, *beams, body, shapes);
  }

 private:
  template <class... Rest>
  void error(const Node& node, const char* id, const std::string& message, Rest&&... rest) {
    values_.error(node, id, body_.text() + ": flexible: " + message, std::forward<Rest>(rest)...);
    good_ = false;
  }
  // Reported already.
  template <class T>
  T value(std::optional<T> read, T otherwise) {
    if (!read) good_ = false;
    return read.value_or(otherwise);
  }
  double positive(const Node* node, const Place& place, Quantity quantity) {
    if (node == nullptr) {
      good_ = false;
      return 1;
    }
    const double x = value(values_.number(*node, place, quantity), 1.0);
    if (x > 0 && x < 1e30) return x;
    values_.error(*node, "not-positive", place.text() + " is not positive", "give a number above 0");
    good_ = false;
    return 1;
  }
  double not_negative(const Node& node, const Place& place, Quantity quantity) {
    const double x = value(values_.number(node, place, quantity), 0.0);
    if (x >= 0 && x < 1e30) return x;
    values_.error(node, "out-of-range", place.text() + " is negative or too large", "give 0 or more");
    good_ = false;
    return 0;
  }
  template <class Take>
  void read_named(const Node& node, const char* section, Take&& take) {
    if (!node.is_mapping() || node.count == 0) {
      error(node, "wrong-type", std::string("'") + section + "' must be names with their values",
            "materials: {steel: {..}}, nodes: {root: [0, 0, 0], ..}");
      return;
    }
    for (std::size_t i = 0; i < node.count; ++i) take(node.key(i), node.value(i));
  }
  template <class Take>
  void read_each(const Node& node, const char* section, Take&& take) {
    if (node.is_mapping()) return take(node);
    if (!node.is_sequence() || node.count == 0) {
      error(node, "wrong-type", std::string("'") + section + "' must be a list", "write `- {..}` for each");
      return;
    }
    for (std::size_t i = 0; i < node.count; ++i) take(node.item(i));
  }
  // The index of a name; of a name that is left out 0, where there is one thing only.
  int find(const Node* node, const std::vector<std::string>& names, const char* what, const Node& otherwise) {
    if (node == nullptr) {
      if (names.size() == 1) return 0;
      error(otherwise, "missing-key", std::string("a beam does not name its ") + what,
            "there are several to choose from");
      return 0;
    }
    const auto found = std::find(names.begin(), names.end(), node->text);
    if (node->is_scalar() && found != names.end()) return static_cast<int>(found - names.begin());
    const std::string hint = did_you_mean(node->text, names);
    error(*node, "unknown-value",
          std::string("there is no ") + what + " " + (node->is_scalar() ? quote(node->text) : "of this form"),
          hint.empty() ? std::string("define it under `") + what + "s`" : hint);
    return 0;
  }

  void read_materials(const Node& node) {
    read_named(node, "materials", [&](const Node& key, const Node& of) {
      const std::string who = "flexible: material '" + std::string(key.text) + "'";
      const Place place = body_.at(who);
      material_names_.emplace_back(key.text);
      BeamMaterial& m = frame_.materials.emplace_back();
      Entries entries = values_.mapping(of, place, Rule::flexible_material);
      if (!entries.good()) return fail();
      const Node* youngs = entries.need("youngs_modulus");
      const Node* shear = entries.find("shear_modulus");
      const Node* poisson = entries.find("poisson_ratio");
      const Node* density = entries.need("density");
      entries.finish();
      m.youngs_modulus = positive(youngs, place, Quantity::pressure);
      m.density = positive(density, place, Quantity::density);
      m.shear_modulus = m.youngs_modulus / 2.6;
      if ((shear == nullptr) == (poisson == nullptr)) {
        values_.error(of, shear == nullptr ? "missing-key" : "conflict",
                      place.text() + ": give one of 'poisson_ratio' and 'shear_modulus'", "steel: poisson_ratio: 0.29");
        return fail();
      }
      if (shear != nullptr) {
        m.shear_modulus = positive(shear, place, Quantity::pressure);
        return;
      }
      const double nu = value(values_.number(*poisson, place, Quantity::none), 0.3);
      if (!(nu > -1 && nu <= 0.5)) {
        values_.error(*poisson, "out-of-range", place.text() + ": Poisson's ratio lies between -1 and 0.5",
                      "steel has 0.29, aluminium 0.33");
        return fail();
      }
      m.shear_modulus = m.youngs_modulus / (2 * (1 + nu));
    });
  }

  void read_sections(const Node& node) {
    read_named(node, "sections", [&](const Node& key, const Node& of) {
      const std::string who = "flexible: section '" + std::string(key.text) + "'";
      section_names_.emplace_back(key.text);
      frame_.sections.push_back(read_section(of, body_.at(who)));
    });
  }
  BeamSection read_section(const Node& of, const Place& place) {
    Entries entries = values_.mapping(of, place, Rule::flexible_section);
    if (!entries.good()) {
      fail();
      return {};
    }
    const Node* type = entries.need("type");
    const char* const of_round[] = {"diameter", "wall"};
    const char* const of_rectangle[] = {"width", "height"};
    const char* const of_general[] = {
        "area", "second_moment_y", "second_moment_z", "torsion_constant", "shear_coefficient_y", "shear_coefficient_z"};
    std::vector<std::pair<std::string_view, const Node*>> given;
    for (const char* name : of_round) given.emplace_back(name, entries.find(name));
    for (const char* name : of_rectangle) given.emplace_back(name, entries.find(name));
    for (const char* name : of_general) given.emplace_back(name, entries.find(name));
    entries.finish();
    const auto get = [&](std::string_view name) {
      const auto found = std::find_if(given.begin(), given.end(), [&](const auto& each) { return each.first == name; });
      const Node* node = found->second;
      found->second = nullptr;
      return node;
    };
    const auto length = [&](const char* name, Quantity quantity = Quantity::length) {
      const Node* node = get(name);
      if (node == nullptr)
        values_.error(of, "missing-key", place.text() + ": '" + name + "' is missing",
                      "tube: diameter and wall; round: diameter; rectangle: width and height");
      return positive(node, place, quantity);
    };
    BeamSection out;
    if (type == nullptr) {
      fail();
    } else if (type->text == "tube" || type->text == "round") {
      const double diameter = length("diameter");
      const Node* wall_node = type->text == "tube" ? given[1].second : nullptr;
      const double wall = type->text == "tube" ? length("wall") : 0.5 * diameter;
      if (wall > 0.5 * diameter * (1 + 1e-12) && wall_node != nullptr) {
        values_.error(*wall_node, "out-of-range", place.text() + ": the wall is thicker than half of the diameter",
                      "a full bar is `type: round`");
        fail();
      }
      out = tube_section(diameter, wall);
    } else if (type->text == "rectangle") {
      const double width = length("width"), height = length("height");
      out = rectangle_section(width, height);
    } else if (type->text == "general") {
      out.area = length("area", Quantity::area);
      out.Iy = length("second_moment_y", Quantity::second_moment);
      out.Iz = length("second_moment_z", Quantity::second_moment);
      out.torsion = length("torsion_constant", Quantity::second_moment);
      if (const Node* k = get("shear_coefficient_y")) out.shear_y = not_negative(*k, place, Quantity::none);
      if (const Node* k = get("shear_coefficient_z")) out.shear_z = not_negative(*k, place, Quantity::none);
    } else {
      values_.error(*type, "unknown-value", place.text() + ": there is no section " + quote(type->text),
                    "types: tube, round, rectangle, general");
      fail();
      return out;
    }
    for (const auto& [name, node] : given) {
      if (node == nullptr || type == nullptr) continue;
      values_.error(*node, "conflict",
                    place.text() + ": '" + std::string(name) + "' is nothing of type " + std::string(type->text),
                    "leave it out, or change the type");
      fail();
    }
    return out;
  }

  void read_nodes(const Node& node) {
    read_named(node, "nodes", [&](const Node& key, const Node& of) {
      const std::string who = "flexible: node '" + std::string(key.text) + "'";
      node_names_.emplace_back(key.text);
      node_keys_.push_back(&key);
      const auto position = values_.vector(of, body_.at(who), Quantity::length);
      frame_.nodes.push_back({std::string(key.text), value(position, Vec3(Vec3::Zero()))});
      if (frame_.nodes.back().position.norm() < 1e9) return;
      error(of, "out-of-range", "node '" + std::string(key.text) + "' is beyond 1e9 m", "check the units");
    });
  }

  void read_beams(const Node& node) {
    read_each(node, "beams", [&](const Node& each) { read_beam(each); });
  }
  void read_beam(const Node& node) {
    const Place place = body_.at("flexible: beam");
    Entries entries = values_.mapping(node, place, Rule::flexible_beam);
    if (!entries.good()) return fail();
    const Node* nodes = entries.need("nodes");
    const Node* section = entries.find("section");
    const Node* material = entries.find("material");
    const Node* up = entries.find("up");
    entries.finish();
    if (nodes == nullptr) return fail();
    if (!nodes->is_sequence() || nodes->count < 2) {
      error(*nodes, "wrong-length", "a beam runs through two nodes or more", "nodes: [root, tip]");
      return;
    }
    BeamFrame::Beam beam;
    beam.section = find(section, section_names_, "section", node);
    beam.material = find(material, material_names_, "material", node);
    if (up != nullptr) beam.up = value(values_.direction(*up, place.at("flexible: beam: up")), Vec3(Vec3::UnitZ()));
    for (std::size_t i = 0; i + 1 < nodes->count && good_; ++i) {
      beam.first = find(&nodes->item(i), node_names_, "node", node);
      beam.second = find(&nodes->item(i + 1), node_names_, "node", node);
      if (!good_) return;
      if (!(frame_.length(beam) > 0)) {
        error(nodes->item(i + 1), "zero-length",
              "the beam from '" + node_names_[beam.first] + "' to '" + node_names_[beam.second] + "' has no length",
              "name two different places");
        return;
      }
      if (up != nullptr && frame_.up_is_along(beam)) {
        error(*up, "parallel-axes",
              "'up' of the beam from '" + node_names_[beam.first] + "' to '" + node_names_[beam.second] +
                  "' is along the beam",
              "give a direction across it, which z of its section is near to; beams of other directions need an entry "
              "of their own");
        return;
      }
      frame_.beams.push_back(beam);
    }
  }

  void read_lump(const Node& node) {
    const Place place = body_.at("flexible: lumped mass");
    Entries entries = values_.mapping(node, place, Rule::flexible_mass);
    if (!entries.good()) return fail();
    const Node* at = entries.need("node");
    const Node* mass = entries.need("mass");
    const Node* inertia = entries.find("inertia");
    entries.finish();
    if (at == nullptr || mass == nullptr) return fail();
    BeamFrame::Lump lump;
    lump.node = find(at, node_names_, "node", node);
    lump.mass = not_negative(*mass, place, Quantity::mass);
    if (inertia != nullptr) {
      lump.inertia = value(values_.inertia(*inertia, place), Mat3(Mat3::Zero()));
      const double least = symmetric_eigenvalues(lump.inertia)[0];
      if (!(least >= -1e-9 * lump.inertia.cwiseAbs().maxCoeff()) ||
          !lump.inertia.isApprox(lump.inertia.transpose(), 1e-9)) {
        error(*inertia, "impossible-inertia", "the inertia of a lumped mass is not that of a body",
              "its principal values are 0 or more");
      }
    }
    frame_.lumps.push_back(lump);
  }

  void read_element_length(const Node& node) {
    frame_.element_length = positive(&node, body_.at("flexible: element_length"), Quantity::length);
    double elements = 0;
    for (const BeamFrame::Beam& beam : frame_.beams) elements += std::ceil(frame_.length(beam) / frame_.element_length);
    if (good_ && elements > most_elements) {
      error(node, "out-of-range",
            "this element length makes " + digits(elements) + " elements; at most " + std::to_string(most_elements) +
                " are possible",
            "make it longer: a wave of the highest mode needs about ten elements");
    }
  }

  void read_interfaces(const Node& node) {
    if (!node.is_sequence() || node.count == 0) {
      error(node, "wrong-type", "'interfaces' must be a list of nodes", "interfaces: [root, tip]");
      return;
    }
    for (std::size_t i = 0; i < node.count; ++i) {
      const int at = find(&node.item(i), node_names_, "node", node);
      if (!good_) return;
      if (std::find(options_.interfaces.begin(), options_.interfaces.end(), at) != options_.interfaces.end()) {
        error(node.item(i), "duplicate-name", "node '" + node_names_[at] + "' is named twice", "once is enough");
        return;
      }
      options_.interfaces.push_back(at);
    }
  }

  void read_normal_modes(const Node& node) {
    const long count = value(values_.whole_number(node, body_.at("flexible: normal_modes")), 0L);
    if (count < 0 || count > most_modes) {
      error(node, "out-of-range", "'normal_modes' lies between 0 and " + std::to_string(most_modes),
            "as many as there are frequencies of interest, and half as many more");
      return;
    }
    options_.normal_modes = static_cast<int>(count);
  }

  void read_stress(const Node& node) {
    constexpr long most = 1000;
    Entries entries = values_.mapping(node, body_.at("flexible: stress"), Rule::flexible_stress);
    if (!entries.good()) return fail();
    const Node* count = entries.find("hot_spots");
    entries.finish();
    const long spots =
        count != nullptr ? value(values_.whole_number(*count, body_.at("flexible: stress: hot_spots")), 1L) : 10L;
    if (spots < 1 || spots > most) {
      error(*count, "out-of-range", "'hot_spots' lies between 1 and " + std::to_string(most), "10 are usual");
      return;
    }
    hot_spots_ = static_cast<int>(spots);
    for (std::size_t i = 0; i < frame_.sections.size(); ++i) {
      if (!good_ || stress_section(frame_.sections[i])) continue;
      error(node, "conflict", "the stress of section '" + section_names_[i] + "' cannot be found: it has no outline",
            "give it as a tube, round or rectangle, or leave 'stress' out");
    }
  }

  void read_damping(const Node* ratios, const Node* bands) {
    std::vector<double> of_modes, below;
    const auto numbers = [&](const Node& node, const char* name, Quantity quantity) {
      const bool single = node.is_scalar() && node.text.find('[') == std::string_view::npos;
      if (!single) return value(values_.numbers(node, body_.at(name), quantity), std::vector<double>{});
      return std::vector<double>{value(values_.number(node, body_.at(name), quantity), 0.0)};
    };
    if (ratios != nullptr) {
      of_modes = numbers(*ratios, "flexible: damping_ratios", Quantity::none);
      if (good_ && (of_modes.empty() ||
                    !std::all_of(of_modes.begin(), of_modes.end(), [](double x) { return x >= 0 && x <= 1e6; })))
        error(*ratios, "out-of-range", "damping ratios are 0 or more", "0.01 is one hundredth of the critical damping");
    }
    if (bands != nullptr) {
      below = numbers(*bands, "flexible: damping_bands", Quantity::frequency);
      if (good_ && (below.empty() || !(below.front() > 0) || !std::is_sorted(below.begin(), below.end())))
        error(*bands, "out-of-range", "the ends of the bands must rise from above 0", "damping_bands: [100 Hz, 1 kHz]");
      if (good_ && of_modes.size() != below.size() + 1)
        error(*bands, "wrong-length", "bands need one damping ratio each, and one for what is above them",
              "damping_bands: [100 Hz, 1 kHz] goes with damping_ratios: [0.01, 0.1, 1]");
      for (std::size_t i = 0; good_ && i < of_modes.size(); ++i)
        options_.bands.push_back({of_modes[i], i < below.size() ? below[i] : 1e300});
    } else {
      options_.ratios = of_modes;
    }
  }

  void finish(const Node& node, const Node& beams, Body& body, std::vector<Shape>& shapes) {
    if (std::ssize(frame_.beams) > most_elements) {
      error(beams, "too-large", "it has more than " + std::to_string(most_elements) + " beams", "split the body");
      return;
    }
    if (const int loose = frame_.loose_node(); loose >= 0) {
      error(*node_keys_[loose], "not-connected", "no beam leads from node '" + node_names_[loose] + "' to the others",
            "add a beam, or remove the node");
      return;
    }
    const auto modes = static_cast<int>(6 * options_.interfaces.size()) + options_.normal_modes - 6;
    if (modes > most_modes) {
      error(
          node, "too-large",
          "it would have " + std::to_string(modes) + " modes; at most " + std::to_string(most_modes) + " are possible",
          "name fewer interfaces or normal modes");
      return;
    }
    const FiniteElements elements = mesh(frame_);
    if (!enough_modes(elements)) return;
    try {
      Reduction reduced = reduce(frame_, elements, options_);
      if (hot_spots_ > 0) add_stress_points(frame_, elements, reduced.shapes, reduced.data);
      reduced.data.hot_spots = hot_spots_;
      if (!nodes_apart(reduced.data.nodes) || !enough_for_ratios(reduced.data.modes())) return;
      body.mass = reduced.data.mass;
      body.center_of_mass = reduced.center;
      body.inertia = reduced.data.inertia;
      body.modal = std::make_shared<const ModalData>(std::move(reduced.data));
    } catch (const ReductionError& cause) {
      error(beams, "not-reducible", std::string("it cannot be reduced: ") + cause.what(),
            "check the units of its parts");
      return;
    }
    for (const BeamFrame::Beam& beam : frame_.beams) shapes.push_back(drawn(beam));
  }

  bool enough_modes(const FiniteElements& elements) {
    const int interior = elements.freedoms() - 6 * static_cast<int>(options_.interfaces.size());
    if (options_.normal_modes <= interior) return true;
    error(*normal_modes_node_, "out-of-range",
          "'normal_modes' is " + std::to_string(options_.normal_modes) + ", but with its interface nodes held it has " +
              (interior == 0 ? "no modes" : "only " + std::to_string(interior)),
          "a shorter 'element_length' makes more finite elements, six modes for each of their nodes");
    return false;
  }
  // Frames find their node by its place.
  bool nodes_apart(const std::vector<ModalNode>& nodes) {
    double size = 0;
    for (const ModalNode& node : nodes) size = std::max(size, node.position.norm());
    for (std::size_t j = 1; j < nodes.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        if ((nodes[j].position - nodes[i].position).norm() > 1e-6 * size + 1e-12) continue;
        error(interfaces_node_->item(j), "same-place",
              "interface nodes '" + nodes[i].name + "' and '" + nodes[j].name + "' stand at the same place",
              "join their beams at one node, or take one of them out of 'interfaces'");
        return false;
      }
    }
    return true;
  }
  bool enough_for_ratios(int modes) {
    const auto given = static_cast<int>(options_.ratios.size());
    if (given <= std::max(modes, 1)) return true;
    error(*ratios_node_, "wrong-length",
          "'damping_ratios' has " + std::to_string(given) + " entries, but it has " + std::to_string(modes) + " modes",
          "the last ratio holds for all modes that follow");
    return false;
  }

  Shape drawn(const BeamFrame::Beam& beam) const {
    const BeamSection& section = frame_.sections[beam.section];
    const Vec3 from = frame_.nodes[beam.first].position, to = frame_.nodes[beam.second].position;
    const double length = (to - from).norm();
    Shape shape;
    shape.local.position = 0.5 * (from + to);
    if (section.width == 0) {
      shape.type = "line";
      shape.local.position = from;
      shape.size = {to.x() - from.x(), to.y() - from.y(), to.z() - from.z()};
    } else if (section.round) {
      shape.type = "cylinder";
      shape.local.rotation = Quat::FromTwoVectors(Vec3::UnitZ(), to - from);
      shape.size = {0.5 * section.width, length};
    } else {
      shape.type = "box";
      shape.local.rotation = Quat(frame_.axes(beam));
      shape.size = {length, section.width, section.height};
    }
    return shape;
  }

  void fail() { good_ = false; }

  Values& values_;
  Place body_;
  bool good_ = true;
  int hot_spots_ = 0;
  BeamFrame frame_;
  ReductionOptions options_;
  std::vector<std::string> material_names_, section_names_, node_names_;
  std::vector<const Node*> node_keys_;
  const Node *normal_modes_node_ = nullptr, *interfaces_node_ = nullptr, *ratios_node_ = nullptr;
};

}  // namespace

void read_flexible(Values& values, const Node& node, const Place& body_place, Body& body, std::vector<Shape>& shapes) {
  FlexibleReader(values, body_place).read(node, body, shapes);
}

}  // namespace trammel
