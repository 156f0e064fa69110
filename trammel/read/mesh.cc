#include "trammel/read/mesh.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <unordered_map>

#include "trammel/base/literal.h"

namespace trammel {
namespace {

constexpr std::size_t most_triangles = 5'000'000;
constexpr std::size_t stl_header = 84, stl_record = 50;  // bytes: 80 of text and a count; normal, corners, attribute

[[noreturn]] void fail_mesh(const std::string& file, int line, const char* id, std::string message, std::string hint) {
  throw Failure({Severity::error, id, std::move(message), std::move(hint), {intern(file), line, line > 0 ? 1 : 0}});
}

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

// Merges equal points, so that triangles share their edges.
class MeshBuilder {
 public:
  explicit MeshBuilder(const std::string& file) : file_(file) {}

  int point(const Vec3& p, int line) {
    if (!p.allFinite()) fail_mesh(file_, line, "bad-mesh", "a point of the mesh is not finite", "export it again");
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x); };  // -0 is 0
    const Key key{bits(p.x()), bits(p.y()), bits(p.z())};
    const auto [found, fresh] = index_.try_emplace(key, static_cast<int>(mesh_.points.size()));
    if (fresh) mesh_.points.push_back(p);
    return found->second;
  }

  // Triangles without area are left out: they enclose nothing.
  void triangle(int a, int b, int c, int line) {
    if (a == b || b == c || c == a) return;
    if (mesh_.triangles.size() >= most_triangles) {
      fail_mesh(file_, line, "too-large", "the mesh has more than " + std::to_string(most_triangles) + " triangles",
                "make it coarser");
    }
    mesh_.triangles.push_back({a, b, c});
  }

  Mesh finish() {
    if (mesh_.triangles.empty()) fail_mesh(file_, 0, "bad-mesh", "the mesh has no triangles", "export it again");
    check_closed();
    if (!(solid(mesh_, 1).mass > 0)) {
      fail_mesh(file_, 0, "inverted-mesh", "the mesh is inside out or encloses nothing: its volume is not positive",
                "turn its faces over: corners run counterclockwise as seen from outside");
    }
    return std::move(mesh_);
  }

 private:
  using Key = std::array<std::uint64_t, 3>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t h = 1469598103934665603ULL;
      for (const std::uint64_t part : key) h = (h ^ (part >> 17) ^ part) * 1099511628211ULL;
      return static_cast<std::size_t>(h ^ (h >> 29));
    }
  };

  // A surface is closed if each edge is run through once in each direction.
  void check_closed() const {
    std::unordered_map<std::uint64_t, int> edges;
    edges.reserve(mesh_.triangles.size() * 3);
    for (const auto& t : mesh_.triangles) {
      for (std::size_t i = 0; i < 3; ++i) {
        const int a = t[i], b = t[(i + 1) % 3];
        const std::uint64_t low = static_cast<std::uint32_t>(std::min(a, b));
        edges[low << 32 | static_cast<std::uint32_t>(std::max(a, b))] += a < b ? 1 : -1;
      }
    }
    std::size_t open = 0;
    const Vec3* where = nullptr;
    for (const auto& edge : edges) {
      if (edge.second == 0) continue;
      ++open;
      const Vec3& p = mesh_.points[edge.first >> 32];
      if (where == nullptr || std::lexicographical_compare(p.data(), p.data() + 3, where->data(), where->data() + 3)) {
        where = &p;
      }
    }
    if (open == 0) return;
    fail_mesh(file_, 0, "open-mesh",
              "the mesh is not closed: " + std::to_string(open) +
                  " edges have no partner in the other direction, one at [" + shortest(where->x()) + ", " +
                  shortest(where->y()) + ", " + shortest(where->z()) + "]",
              "close the holes, turn faces that look the wrong way, and merge points that should be the same");
  }

  const std::string& file_;
  Mesh mesh_;
  std::unordered_map<Key, int, Hash> index_;
};

// The words of a text, line by line.
class MeshLines {
 public:
  explicit MeshLines(std::string_view text) : text_(text) {}
  bool next() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    rest_ = text_.substr(at_, end - at_);
    at_ = end + 1;
    ++line_;
    return true;
  }
  std::string_view word() {
    rest_ = trim(rest_);
    const std::size_t end = std::min(rest_.find_first_of(" \t\r"), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }
  int line() const { return line_; }

 private:
  std::string_view text_, rest_;
  std::size_t at_ = 0;
  int line_ = 0;
};

Vec3 read_point(MeshLines& lines, const std::string& file) {
  Vec3 p;
  for (Eigen::Index i = 0; i < 3; ++i) {
    const std::string_view word = lines.word();
    const Literal literal = read_literal(word);
    if (!literal.is_number || literal.out_of_range || !literal.rest.empty()) {
      fail_mesh(file, lines.line(), "bad-mesh", quote(word) + " is not a coordinate of a point", "export it again");
    }
    p[i] = literal.value;
  }
  return p;
}

Mesh read_binary_stl(std::string_view bytes, const std::string& file) {
  MeshBuilder builder(file);
  const std::size_t count = (bytes.size() - stl_header) / stl_record;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<int, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t at = stl_header + i * stl_record + 12 * (k + 1);
      const auto x = [&](std::size_t j) { return double{std::bit_cast<float>(little_endian(bytes, at + 4 * j))}; };
      corners[k] = builder.point(Vec3(x(0), x(1), x(2)), 0);
    }
    builder.triangle(corners[0], corners[1], corners[2], 0);
  }
  return builder.finish();
}

Mesh read_text_stl(std::string_view text, const std::string& file) {
  MeshBuilder builder(file);
  MeshLines lines(text);
  std::vector<int> corners;
  while (lines.next()) {
    const std::string_view word = lines.word();
    if (word == "vertex") {
      corners.push_back(builder.point(read_point(lines, file), lines.line()));
    } else if (word == "endloop") {
      if (corners.size() != 3) {
        fail_mesh(file, lines.line(), "bad-mesh", "a facet has " + std::to_string(corners.size()) + " corners, not 3",
                  "export it again");
      }
      builder.triangle(corners[0], corners[1], corners[2], lines.line());
      corners.clear();
    } else if (!word.empty() && word != "solid" && word != "facet" && word != "outer" && word != "endfacet" &&
               word != "endsolid") {
      fail_mesh(file, lines.line(), "bad-mesh", quote(word) + " is no word of an STL file", "is this an STL file?");
    }
  }
  if (!corners.empty()) fail_mesh(file, lines.line(), "bad-mesh", "the file ends inside a facet", "export it again");
  return builder.finish();
}

Mesh read_obj(std::string_view text, const std::string& file) {
  MeshBuilder builder(file);
  MeshLines lines(text);
  std::vector<int> points, corners;
  while (lines.next()) {
    const std::string_view word = lines.word();
    if (word == "v") {
      points.push_back(builder.point(read_point(lines, file), lines.line()));
    } else if (word == "f") {
      corners.clear();
      for (std::string_view corner = lines.word(); !corner.empty(); corner = lines.word()) {
        int index = 0;  // of "7/1/3" the first counts; negative ones count from the end
        const auto [end, trouble] = std::from_chars(corner.data(), corner.data() + corner.size(), index);
        const bool whole = trouble == std::errc{} && (end == corner.data() + corner.size() || *end == '/');
        const auto size = static_cast<int>(points.size());
        if (!whole || index == 0 || index > size || index < -size) {
          fail_mesh(file, lines.line(), "bad-mesh", quote(corner) + " is not the number of a point above this line",
                    "points count from 1");
        }
        corners.push_back(points[index > 0 ? index - 1 : size + index]);
      }
      if (corners.size() < 3) {
        fail_mesh(file, lines.line(), "bad-mesh", "a face has fewer than 3 corners", "export it again");
      }
      for (std::size_t i = 2; i < corners.size(); ++i) {
        builder.triangle(corners[0], corners[i - 1], corners[i], lines.line());
      }
    }
  }
  return builder.finish();
}

bool ends_with(const std::string& name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  return std::equal(ending.begin(), ending.end(), name.end() - std::ssize(ending),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b); });
}

}  // namespace

Mesh read_mesh(std::string_view bytes, const std::string& file_name) {
  if (ends_with(file_name, ".obj")) return read_obj(bytes, file_name);
  if (!ends_with(file_name, ".stl")) {
    fail_mesh(file_name, 0, "bad-mesh", "this kind of mesh is not known", "STL and OBJ files are read: .stl, .obj");
  }
  // A binary file may also start with "solid"; its size tells.
  if (bytes.size() >= stl_header && bytes.size() == stl_header + stl_record * std::size_t{little_endian(bytes, 80)}) {
    return read_binary_stl(bytes, file_name);
  }
  if (trim(bytes.substr(0, 200)).substr(0, 5) == "solid") return read_text_stl(bytes, file_name);
  fail_mesh(file_name, 0, "bad-mesh", "this is neither a text STL nor a whole binary one", "export it again");
}

MassProperties solid(const Mesh& mesh, double scale) {
  // Of the tetrahedron (0, a, b, c) with D = a . (b x c): volume D/6, integral of x  D/24 (a + b + c), of x x^T
  // D/120 (a a^T + b b^T + c c^T + s s^T), s = a + b + c. The common point is the first of the mesh, for the digits.
  const Vec3 origin = mesh.points.front();
  double volume = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (const auto& t : mesh.triangles) {
    const auto at = [&](std::size_t k) { return Vec3(mesh.points[t[k]] - origin); };
    const Vec3 a = at(0), b = at(1), c = at(2), s = a + b + c;
    const double D = a.dot(b.cross(c));
    volume += D / 6;
    first += D / 24 * s;
    second += D / 120 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  MassProperties out;
  out.mass = volume;
  if (volume == 0) return out;
  const Vec3 center = first / volume;
  const Mat3 central = second - volume * center * center.transpose();
  out.center = scale * (origin + center);
  out.inertia = std::pow(scale, 5) * (central.trace() * Mat3::Identity() - central);
  out.mass = std::pow(scale, 3) * volume;
  return out;
}

}  // namespace trammel
