// Coupler: sum of scale_i (angle or displacement of joint i) = offset
#include <sstream>

#include "trammel/elements/joints/coupling.h"
#include "trammel/elements/joints/joints.h"

namespace trammel {

ElementDescription describe_coupler() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "coupler";
  d.summary =
      "A linear relation between the angles, over any number of turns, or displacements of two to four joints: belts, "
      "differentials, linkages idealised.";
  d.attachment = Attachment::joints;
  d.fields = {
      coupled_joints_field("The joints coupled, two to four."),
      {"scales", FieldKind::numbers, Quantity::none, std::nullopt,
       "The factor of each joint, none zero; angles count in rad, displacements in m."},
      {"of", FieldKind::text, Quantity::none, std::string(),
       "What of each joint: angle or displacement; by default the one that its type leaves, the angle if both."},
      {"offset", FieldKind::number, Quantity::none, 0.0, "The value of the sum, in rad or m."},
  };
  d.attach = attach_coupled_joints;
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    const auto pairs = static_cast<std::size_t>(coupled_pairs(item, 0));
    const auto& scales = item.fields.get<std::vector<double>>("scales");
    std::istringstream words(item.fields.get<std::string>("of"));
    std::vector<std::string> of;
    for (std::string word; words >> word;) of.push_back(word);
    const auto refuse = [&](const std::string& what, const std::string& hint) {
      throw Failure({Severity::error, "wrong-length", "joint '" + item.name + "': " + what, hint, item.where});
    };
    if (scales.size() != pairs) refuse("'scales' must hold one number for each joint", "write scales: [1, -2]");
    if (!of.empty() && of.size() != pairs)
      refuse("'of' must hold one word for each joint", "write of: angle displacement");
    std::vector<CoupledTerm> terms;
    for (std::size_t i = 0; i < pairs; ++i) {
      Coupled what = Coupled::angle;
      if (of.empty()) {
        what = coupled_by_type(item, static_cast<int>(i), context);
      } else if (of[i] == "displacement") {
        what = Coupled::displacement;
      } else if (of[i] != "angle") {
        refuse("'of' holds '" + of[i] + "'", "only angle and displacement can be coupled");
      }
      // Divided by the first scale, so that the multiplier is the force or torque in the first joint.
      terms.push_back({what, scales[i] / scales[0]});
    }
    return make_coupling(item, terms, item.fields.number("offset") / scales[0],
                         terms[0].what == Coupled::angle ? RowUnit::torque : RowUnit::force, "coupled joints");
  };
  d.random_fields = [](std::mt19937& random) {
    std::uniform_real_distribution<double> scale(0.5, 2);
    Fields fields;
    fields.set("scales", std::vector<double>{scale(random), -scale(random), scale(random)});
    fields.set("of", std::string("angle displacement angle"));
    fields.set("offset", 0.2);
    return fields;
  };
  d.random_frames = 6;
  return d;
}

}  // namespace trammel
