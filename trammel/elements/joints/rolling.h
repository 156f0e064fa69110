// What elements that roll on a plane share in their description.
#pragma once
#include <random>

#include "trammel/elements/joints/joints.h"

namespace trammel {

inline ElementDescription describe_rolling(const char* key, const char* summary, const char* radius) {
  ElementDescription d;
  d.category = Category::joint;
  d.key = key;
  d.summary = summary;
  d.attachment = Attachment::two_points;
  d.fields = {{"radius", FieldKind::number, Quantity::length, std::nullopt, radius, 1e-9}};
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("radius", std::uniform_real_distribution<double>(0.3, 1.2)(random));
    return fields;
  };
  return d;
}

}  // namespace trammel
