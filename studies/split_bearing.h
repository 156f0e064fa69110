// SPLIT 6.3: the ball bearing, against closed forms and beside CVODE and HHT.
#pragma once

#include "studies/study.h"

namespace trammel::split_study {

void bearing_study(const StudyContext& context, std::vector<Row>& rows);

}  // namespace trammel::split_study
