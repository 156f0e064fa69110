// The rank analysis in words, and the comparison of two poses: see loops.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "trammel/base/numbers.h"
#include "trammel/rank/algebra.h"
#include "trammel/rank/loops.h"

namespace trammel {
namespace rank {
namespace {

constexpr double aligned = 1e-6;  // directions agree with an axis to this: poses are assembled to 1e-10 or better

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

// "force along z", "torques about x and y"; which: axes of the force (0..2), then of the torque (3..5)
void append_components(const std::vector<int>& which, std::vector<std::string>& phrases) {
  static const std::array<const char*, 3> names{"x", "y", "z"};
  std::vector<std::string> force, torque;
  for (const int i : which) (i < 3 ? force : torque).push_back(names[i % 3]);
  if (!force.empty()) phrases.push_back((force.size() == 1 ? "force along " : "forces along ") + joined(force));
  if (!torque.empty()) phrases.push_back((torque.size() == 1 ? "torque about " : "torques about ") + joined(torque));
}

std::string vector_text(const Vec3& given) {
  // Signs of singular vectors are arbitrary: make the largest component positive.
  Eigen::Index largest = 0;
  given.cwiseAbs().maxCoeff(&largest);
  Vec3 v = given.normalized() * (given(largest) < 0 ? -1.0 : 1.0);
  for (double& c : v) c = std::abs(c) < 5e-4 ? 0.0 : c;
  return "(" + digits(v.x(), 3) + ", " + digits(v.y(), 3) + ", " + digits(v.z(), 3) + ")";
}

std::string subspace_text(const Mat& basis, const std::string& one, const std::string& two) {
  if (basis.cols() == 1) return one + vector_text(basis.col(0));
  return two + " in the plane normal to " + vector_text(Vec3(basis.col(0)).cross(Vec3(basis.col(1))));
}

// Directions not along the axes: orthonormal columns.
std::string oblique_text(const Mat& directions) {
  const Mat force = column_space(directions.topRows(3), aligned),
            torque = column_space(directions.bottomRows(3), aligned);
  if (force.cols() + torque.cols() == directions.cols()) {  // then it is their product: forces and torques independent
    std::vector<std::string> phrases;
    if (force.cols() > 0) phrases.push_back(subspace_text(force, "force along ", "forces"));
    if (torque.cols() > 0) phrases.push_back(subspace_text(torque, "torque about ", "torques"));
    return joined(phrases);
  }
  if (directions.cols() == 1) {
    return "force along " + vector_text(force.col(0)) + " coupled with torque about " + vector_text(torque.col(0));
  }
  std::vector<int> touched;
  for (int i = 0; i < 6; ++i) {
    if (directions.row(i).norm() > aligned) touched.push_back(i);
  }
  std::vector<std::string> phrases;
  append_components(touched, phrases);
  return std::to_string(directions.cols()) + " combinations of " + joined(phrases);
}

}  // namespace
}  // namespace rank

std::string describe_directions(const Mat& directions, const Mat3& axes) {
  if (directions.cols() == 0) return "";
  Mat local(6, directions.cols());
  local.topRows(3) = axes.transpose() * directions.topRows(3);
  local.bottomRows(3) = axes.transpose() * directions.bottomRows(3);
  std::vector<int> along;
  for (int i = 0; i < 6; ++i) {
    if (local.row(i).squaredNorm() > 1 - rank::aligned * rank::aligned) along.push_back(i);
  }
  std::vector<std::string> phrases;
  rank::append_components(along, phrases);
  const Eigen::Index oblique = local.cols() - static_cast<Eigen::Index>(along.size());
  if (oblique > 0) {
    for (const int i : along) local.row(i).setZero();
    phrases.push_back(rank::oblique_text(rank::column_space(local, 0.5)));  // singular values are 1 or 0
  }
  std::string text = phrases.front();
  for (std::size_t i = 1; i < phrases.size(); ++i) text += ", " + phrases[i];
  return text;
}

std::vector<std::string> describe(const LoopAnalysis& analysis, const std::vector<std::string>& edge_names) {
  const auto name = [&](int edge) {
    const std::size_t i = static_cast<std::size_t>(edge);
    return i < edge_names.size() ? "'" + edge_names[i] + "'" : "constraint " + std::to_string(edge);
  };
  const auto count = [](int n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  std::vector<std::string> lines;
  lines.push_back("degrees of freedom: " + std::to_string(analysis.freedoms_by_rank) + " by rank, " +
                  std::to_string(analysis.freedoms_by_count) + " by count (" + std::to_string(analysis.body_freedoms) +
                  " of bodies - " + count(analysis.rows, "constraint row") + ")" +
                  (analysis.analysed ? "" : "; bounds only, some loops were not analysed"));
  if (analysis.redundant > 0) {
    lines.push_back("redundant constraint rows: " + std::to_string(analysis.redundant) + " of " +
                    std::to_string(analysis.rows) +
                    "; reactions below that are not unique, in world axes, are of least norm with L = " +
                    digits(analysis.length, 4) + " m");
  }
  for (const LoopGroup& group : analysis.groups) {
    if (group.redundant == 0 && !group.nearly_redundant && group.analysed) continue;
    std::vector<std::string> names;
    constexpr std::size_t most_names = 12;
    for (std::size_t i = 0; i < std::min(group.edges.size(), most_names); ++i) names.push_back(name(group.edges[i]));
    std::string line = "group of ";
    if (group.edges.size() > most_names) names.push_back(std::to_string(group.edges.size() - most_names) + " more");
    line += rank::joined(names) + ": " + count(group.loops, "loop") + ", " + count(group.redundant, "redundant row");
    if (!group.analysed) line += " within joints; loops not analysed, too many";
    if (group.analysed && !group.directions_known) line += "; directions not computed, too many loops";
    if (group.nearly_redundant) {
      line += "; nearly redundant (singular value ratio " +
              digits(group.smallest_nonzero < 1e-5 ? group.smallest_nonzero : group.largest_zero, 2) +
              "): misfit, or near a singular position";
    }
    lines.push_back(line);
  }
  for (std::size_t i = 0; i < analysis.edges.size(); ++i) {
    const EdgeRank& edge = analysis.edges[i];
    if (!edge.text.empty() && edge.directions_known) lines.push_back(name(static_cast<int>(i)) + ": " + edge.text);
  }
  if (!analysis.removable.empty()) {
    std::map<int, std::vector<int>> rows;
    for (const RowOfEdge& r : analysis.removable) rows[r.edge].push_back(r.row + 1);
    std::vector<std::string> parts;
    for (auto& [edge, list] : rows) {
      std::sort(list.begin(), list.end());
      std::vector<std::string> numbers;
      for (const int r : list) numbers.push_back(std::to_string(r));
      parts.push_back(name(edge) + (list.size() == 1 ? " row " : " rows ") + rank::joined(numbers));
    }
    std::string line = "removable at this pose: ";
    for (std::size_t i = 0; i < parts.size(); ++i) line += (i > 0 ? "; " : "") + parts[i];
    lines.push_back(line);
  }
  return lines;
}

PoseComparison compare_poses(const LoopAnalysis& first, const LoopAnalysis& second) {
  const std::size_t edges = first.edges.size();
  if (second.edges.size() != edges) throw std::invalid_argument("compare_poses: analyses of different graphs");
  // Groups mostly agree; where a pose changes them, those that share an edge are taken together.
  std::vector<std::size_t> set(edges);
  std::iota(set.begin(), set.end(), std::size_t{0});
  const auto find = [&set](std::size_t i) {
    while (set[i] != i) i = set[i] = set[set[i]];
    return i;
  };
  for (const LoopAnalysis* analysis : {&first, &second}) {
    for (const LoopGroup& group : analysis->groups) {
      for (const int e : group.edges) {
        const std::size_t a = find(static_cast<std::size_t>(e)),
                          b = find(static_cast<std::size_t>(group.edges.front()));
        set[std::max(a, b)] = std::min(a, b);
      }
    }
  }
  std::map<std::size_t, std::array<int, 2>> redundant;
  const std::array<const LoopAnalysis*, 2> poses{&first, &second};
  for (std::size_t p = 0; p < 2; ++p) {
    for (const LoopGroup& group : poses[p]->groups) {
      redundant[find(static_cast<std::size_t>(group.edges.front()))][p] += group.redundant;
    }
  }
  std::map<std::size_t, std::vector<int>> members;
  for (std::size_t e = 0; e < edges; ++e) {
    if (redundant.count(find(e)) > 0) members[find(e)].push_back(static_cast<int>(e));
  }
  PoseComparison result;
  for (const auto& [root, counts] : redundant) {
    if (counts[0] == 0 && counts[1] == 0) continue;
    GroupComparison group;
    group.edges = members[root];
    group.permanent = std::min(counts[0], counts[1]);
    group.momentary_first = counts[0] - group.permanent;
    group.momentary_second = counts[1] - group.permanent;
    result.permanent += group.permanent;
    result.momentary_first += group.momentary_first;
    result.momentary_second += group.momentary_second;
    result.groups.push_back(std::move(group));
  }
  return result;
}

}  // namespace trammel
