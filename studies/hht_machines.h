// The machines of section 4 of the HHT paper, as rows of the study `hht`.
#pragma once
#include <vector>

#include "studies/study.h"

namespace trammel {

// The belt of an engine, section 4.1, and the track of an excavator, section 4.2.
void belt_rows(const StudyContext& context, std::vector<Row>& rows);
void track_rows(const StudyContext& context, std::vector<Row>& rows);

}  // namespace trammel
