// The all-terrain vehicle of section 4.3 of the HHT paper, models/atv.yaml: a part of `trammel study hht`.
#pragma once
#include <vector>

#include "studies/study.h"

namespace trammel {

void add_atv_rows(const StudyContext& context, std::vector<Row>& rows);

}  // namespace trammel
