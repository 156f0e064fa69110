// Named matrices with names of their rows and columns, for what is no history: linear systems, modes. HDF5, or CSV if
// the path ends in .csv.
//
//   HDF5   attribute format "trammel-matrices"; /provenance as in results; for each matrix /NAME/data (rows x columns),
//          /NAME/rows, /NAME/columns (texts), attribute text; /summary: JSON
//   CSV    "# trammel-result matrices", then for each matrix "# matrix NAME: text", a header, a line for each row
#pragma once
#include <string>
#include <vector>

#include "trammel/base/types.h"
#include "trammel/write/trajectory.h"

namespace trammel {

struct NamedMatrix {
  std::string name, text;
  std::vector<std::string> rows, columns;
  Mat values;
};

// Throws Failure (cannot_write).
void write_matrices(const std::string& path, const std::vector<NamedMatrix>& matrices, const Provenance& provenance,
                    const std::string& summary_json);

}  // namespace trammel
