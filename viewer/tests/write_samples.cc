// write_samples FOLDER: columns of every awkward sort, as TRV1 (samples.trv1) and as plain numbers (samples.json, null
// for what is missing). format_tests.mjs reads the one and compares it with the other.
#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "app/view_format.h"

using namespace trammel;

namespace {

constexpr std::size_t rows = 1000;
constexpr double missing = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

template <class F>
std::vector<double> column(const F& f) {
  std::vector<double> values(rows);
  for (std::size_t i = 0; i < rows; ++i) values[i] = f(i);
  return values;
}

Json plain(const ViewColumns& columns) {
  Json all = Json::array();
  for (const std::vector<double>& values : columns) {
    Json list = Json::array();
    for (const double x : values) list.push_back(std::isfinite(x) ? Json(x) : Json());
    all.push_back(list);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(-1, 1);
  const auto wave = [](std::size_t i) { return std::sin(0.01 * static_cast<double>(i)); };
  const ViewColumns columns = {
      column([](std::size_t i) { return 0.005 * static_cast<double>(i); }),
      column(wave),
      column([&](std::size_t) { return 1e6 * noise(random); }),
      column([](std::size_t) { return 0.0; }),
      column([](std::size_t i) { return i % 2 == 0 ? 1.0 : -1.0; }),                  // the largest second differences
      column([&](std::size_t i) { return i < 10 || i > 990 ? missing : wave(i); }),   // at both ends
      column([&](std::size_t i) { return i % 100 < 3 ? missing : 1e-9 * wave(i); }),  // in between
      column([](std::size_t i) { return i == 500 ? infinite : static_cast<double>(i); }),  // no number either
      column([](std::size_t) { return missing; }),
  };
  std::vector<double> steps;
  for (const std::vector<double>& values : columns) {
    double greatest = 0;
    for (const double x : values) {
      if (std::isfinite(x)) greatest = std::max(greatest, std::abs(x));
    }
    steps.push_back(greatest > 0 ? greatest / (1 << 28) : 1);
    if (!ViewFile::fits(values, steps.back())) return 1;
  }
  if (ViewFile::fits({1.0}, 1e-9) || ViewFile::fits({1.0}, 0)) return 1;  // 2^30 quanta do not fit, nor no quantum
  ViewFile file;
  Json header = {{"title", "</script> \"\xE2\x80\xAE"}};
  header["quantised"] = file.add_quantised(columns, steps);
  header["floats"] = file.add_floats(columns);
  const std::string packed = file.packed(header);
  const std::string folder = argv[1];
  std::ofstream(folder + "/samples.trv1", std::ios::binary) << packed;
  std::ofstream(folder + "/samples.json") << Json{{"columns", plain(columns)}, {"base64", base64(packed)}}.dump();
  return gzip("").empty() || gunzip(gzip("abc")) != "abc" ? 1 : 0;
}
