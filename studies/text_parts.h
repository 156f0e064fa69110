// The parts of the study of TEXT.
#pragma once

#include "studies/study.h"

namespace trammel::text_study {

// text_real_time.cc: section 7.3, the methods that the chapter takes for real time, with a fixed number of corrections.
void real_time(const StudyContext& context, std::vector<Row>& rows);
// text_barriers.cc: what no linear multistep method can do, shown on its formulas.
void barriers(const StudyContext& context, std::vector<Row>& rows);

}  // namespace trammel::text_study
