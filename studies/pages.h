// The pages under docs/studies: what is written by hand stays, and what follows the mark is made from the rows.
#pragma once
#include <filesystem>
#include <vector>

#include "studies/all.h"

namespace trammel {

// Writes NAME.md for each study and README.md for all, and copies the pictures that the pages show from `pictures` to
// `images`. A page without a mark gets one at its end.
void write_pages(const std::vector<StudyResult>& results, const std::filesystem::path& pages,
                 const std::filesystem::path& pictures, const std::filesystem::path& images);

// The part of a page that is made; `images` are paths as the page names them, with titles.
struct PagePicture {
  std::string title, path;
};
std::string rows_page(const std::vector<Row>& rows, const std::vector<PagePicture>& images);

}  // namespace trammel
