// Biconnected blocks (R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1 (1972)) and short
// cycles, see rank_graph.h.
#include "trammel/rank/graph.h"

#include <algorithm>
#include <numeric>

namespace trammel::rank {
namespace {

// Legs at each node, in one array: those of node i stand at [start[i], start[i + 1]).
struct Adjacency {
  std::vector<std::size_t> start;
  std::vector<int> leg;

  Adjacency(int nodes, const std::vector<GraphLeg>& legs)
      : start(static_cast<std::size_t>(nodes) + 1, 0), leg(2 * legs.size()) {
    for (const GraphLeg& l : legs) {
      ++start[l.tail + 1];
      ++start[l.head + 1];
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (std::size_t i = 0; i < legs.size(); ++i) {
      leg[next[legs[i].tail]++] = static_cast<int>(i);
      leg[next[legs[i].head]++] = static_cast<int>(i);
    }
  }

  std::size_t degree(std::size_t node) const { return start[node + 1] - start[node]; }
};

int other_end(const GraphLeg& leg, int node) { return leg.tail == node ? leg.head : leg.tail; }

// A breadth-first tree from the node of highest degree: mostly the ground, which keeps the tree shallow.
struct Tree {
  std::vector<int> parent_leg, depth;
  std::vector<char> has_leg;

  Tree(int nodes, const std::vector<GraphLeg>& legs, const Adjacency& adjacency)
      : parent_leg(at(nodes), -1), depth(at(nodes), -1), has_leg(legs.size(), 0) {
    if (nodes == 0) return;
    std::size_t root = 0;
    for (std::size_t i = 1; i < at(nodes); ++i) {
      if (adjacency.degree(i) > adjacency.degree(root)) root = i;
    }
    std::vector<int> queue{static_cast<int>(root)};
    depth[root] = 0;
    for (std::size_t front = 0; front < queue.size(); ++front) {
      const int node = queue[front];
      for (std::size_t k = adjacency.start[at(node)]; k < adjacency.start[at(node) + 1]; ++k) {
        const int l = adjacency.leg[k];
        const int next = other_end(legs[at(l)], node);
        if (depth[at(next)] >= 0) continue;
        depth[at(next)] = depth[at(node)] + 1;
        parent_leg[at(next)] = l;
        has_leg[at(l)] = 1;
        queue.push_back(next);
      }
    }
  }
};

// Looks for a way from one node to another over accepted legs, giving up after a fixed number of legs.
class ShortWay {
 public:
  ShortWay(int nodes, const std::vector<GraphLeg>& legs, const Adjacency& adjacency)
      : legs_(legs), adjacency_(adjacency), seen_by_(at(nodes), -1), reached_by_(at(nodes), -1) {}

  // Appends the parts of the way and returns true if one was found within the limit.
  bool find(int from, int to, const std::vector<char>& accepted, std::vector<CyclePart>& way) {
    constexpr int most_legs_looked_at = 512;  // windows of ladders and grids need a few dozen
    ++search_;
    queue_.assign(1, from);
    seen_by_[at(from)] = search_;
    int looked_at = 0;
    for (std::size_t front = 0; front < queue_.size(); ++front) {
      const int node = queue_[front];
      for (std::size_t k = adjacency_.start[at(node)]; k < adjacency_.start[at(node) + 1]; ++k) {
        if (++looked_at > most_legs_looked_at) return false;
        const int l = adjacency_.leg[k];
        if (!accepted[at(l)]) continue;
        const int next = other_end(legs_[at(l)], node);
        if (seen_by_[at(next)] == search_) continue;
        seen_by_[at(next)] = search_;
        reached_by_[at(next)] = l;
        if (next == to) {
          trace_back(from, to, way);
          return true;
        }
        queue_.push_back(next);
      }
    }
    return false;
  }

 private:
  void trace_back(int from, int to, std::vector<CyclePart>& way) const {
    const std::size_t first = way.size();
    for (int node = to; node != from;) {
      const int l = reached_by_[at(node)];
      way.push_back({l, legs_[at(l)].head == node ? 1 : -1});
      node = other_end(legs_[at(l)], node);
    }
    std::reverse(way.begin() + static_cast<std::ptrdiff_t>(first), way.end());
  }

  const std::vector<GraphLeg>& legs_;
  const Adjacency& adjacency_;
  std::vector<int> seen_by_, reached_by_, queue_;
  int search_ = -1;
};

// The way through the tree: both ends climb until they meet.
void tree_way(int from, int to, const std::vector<GraphLeg>& legs, const Tree& tree, std::vector<CyclePart>& way) {
  while (from != to) {
    if (tree.depth[at(from)] >= tree.depth[at(to)]) {
      const int l = tree.parent_leg[at(from)];
      way.push_back({l, legs[at(l)].tail == from ? 1 : -1});
      from = other_end(legs[at(l)], from);
    } else {
      const int l = tree.parent_leg[at(to)];
      way.push_back({l, legs[at(l)].head == to ? 1 : -1});
      to = other_end(legs[at(l)], to);
    }
  }
}

}  // namespace

Sets::Sets(int n) : parent_(at(n)) { std::iota(parent_.begin(), parent_.end(), 0); }

int Sets::find(int i) {
  while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
  return i;
}

bool Sets::unite(int a, int b) {
  a = find(a), b = find(b);
  parent_[at(std::max(a, b))] = std::min(a, b);
  return a != b;
}

GraphBlocks biconnected_blocks(int nodes, const std::vector<GraphLeg>& legs) {
  GraphBlocks blocks;
  blocks.of_leg.assign(legs.size(), -1);
  const Adjacency adjacency(nodes, legs);
  std::vector<int> order(at(nodes), -1), low(at(nodes), 0), entered_by(at(nodes), -1), path, open_legs;
  std::vector<std::size_t> next(adjacency.start.begin(), adjacency.start.end() - 1);
  int clock = 0;
  for (int root = 0; root < nodes; ++root) {
    if (order[at(root)] >= 0) continue;
    order[at(root)] = low[at(root)] = clock++;
    path.assign(1, root);
    while (!path.empty()) {
      const int node = path.back();
      if (next[at(node)] < adjacency.start[at(node) + 1]) {
        const int l = adjacency.leg[next[at(node)]++];
        if (l == entered_by[at(node)]) continue;  // the leg itself, not the node: parallel legs are cycles
        const int to = other_end(legs[at(l)], node);
        if (order[at(to)] < 0) {
          open_legs.push_back(l);
          entered_by[at(to)] = l;
          order[at(to)] = low[at(to)] = clock++;
          path.push_back(to);
        } else if (order[at(to)] < order[at(node)]) {
          open_legs.push_back(l);
          low[at(node)] = std::min(low[at(node)], order[at(to)]);
        }
        continue;
      }
      path.pop_back();
      if (path.empty()) break;
      const int parent = path.back();
      low[at(parent)] = std::min(low[at(parent)], low[at(node)]);
      if (low[at(node)] < order[at(parent)]) continue;
      // Nothing below `node` reaches above `parent`: everything opened since entering `node` is one block.
      for (int l = -1; l != entered_by[at(node)];) {
        l = open_legs.back();
        open_legs.pop_back();
        blocks.of_leg[at(l)] = blocks.count;
      }
      ++blocks.count;
    }
  }
  return blocks;
}

CycleBasis short_cycle_basis(int nodes, const std::vector<GraphLeg>& legs, std::size_t total_length_limit) {
  const Adjacency adjacency(nodes, legs);
  const Tree tree(nodes, legs, adjacency);
  std::vector<int> chords;
  for (std::size_t i = 0; i < legs.size(); ++i) {
    if (!tree.has_leg[i]) chords.push_back(static_cast<int>(i));
  }
  // From the root outwards, so that the neighbours a short cycle needs are already accepted.
  std::stable_sort(chords.begin(), chords.end(), [&](int a, int b) {
    const auto depth = [&](int l) { return tree.depth[at(legs[at(l)].tail)] + tree.depth[at(legs[at(l)].head)]; };
    return depth(a) < depth(b);
  });
  CycleBasis basis;
  std::vector<char> accepted = tree.has_leg;
  ShortWay search(nodes, legs, adjacency);
  std::size_t total = 0;
  for (const int chord : chords) {
    std::vector<CyclePart> cycle{{chord, 1}};
    const int from = legs[at(chord)].head, to = legs[at(chord)].tail;
    if (!search.find(from, to, accepted, cycle)) tree_way(from, to, legs, tree, cycle);
    accepted[at(chord)] = 1;
    total += cycle.size();
    basis.cycles.push_back(std::move(cycle));
    if (total > total_length_limit) {
      basis.complete = false;
      return basis;
    }
  }
  return basis;
}

}  // namespace trammel::rank
