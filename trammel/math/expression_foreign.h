// How functions under ADAMS' names are read: shared by the parser, the table and the reader; not for other users.
#pragma once
#include <string_view>

#include "trammel/math/expression.h"

namespace trammel {

enum class ForeignForm {
  same,           // one of ours, `target`
  remainder,      // with the sign of the dividend
  transfer_sign,  // |a| with the sign of b
  arithmetic_if,  // IF(x: a, b, c)
  curve,          // AKISPL(x, z, name, order)
  component,      // of a vector from j to i, along an axis of k: `target` is our measure
  magnitude,      // of such a vector
  pair,           // of i and j: `target` is our measure
  missing,
};

struct ForeignRow {
  ForeignFunction function;
  ForeignForm form;
  std::string_view target;
  bool seen_from = false;  // a further argument says from where the motion is seen
};

const ForeignRow* find_foreign(std::string_view lower_case_name);

}  // namespace trammel
