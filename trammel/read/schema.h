// The JSON Schema (draft 7) of model files, made from the grammar of the reader and the registry of elements: what an
// editor needs to complete and check a model. What depends on several values at once is left to `trammel check`.
#pragma once
#include <string>

namespace trammel {

std::string model_schema();

}  // namespace trammel
