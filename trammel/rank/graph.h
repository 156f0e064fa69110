// The graph under the rank analysis (loops.h): its biconnected blocks, by Tarjan's lowpoint search without recursion,
// and a basis of short cycles for one block. Nothing here knows about mechanics. Both cost about linear time.
#pragma once
#include <cstddef>
#include <vector>

namespace trammel::rank {

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Disjoint sets of 0 ... n - 1.
class Sets {
 public:
  explicit Sets(int n);
  int find(int i);
  bool unite(int a, int b);  // true if they were apart

 private:
  std::vector<int> parent_;
};

// An edge of the graph between two different nodes. Parallel legs are allowed: each pair of them is a cycle.
struct GraphLeg {
  int tail = 0;
  int head = 0;
};

struct GraphBlocks {
  int count = 0;
  std::vector<int> of_leg;  // the block of each leg; a bridge is a block of its own
};

GraphBlocks biconnected_blocks(int nodes, const std::vector<GraphLeg>& legs);

struct CyclePart {
  int leg = 0;
  int sign = 1;  // +1: passed from tail to head
};

struct CycleBasis {
  bool complete = true;  // false: longer than the limit in total, and left unfinished
  std::vector<std::vector<CyclePart>> cycles;
};

// legs - nodes + 1 independent cycles of a connected graph. Cycle i closes a chord of a breadth-first tree through tree
// legs and earlier chords, so that the cycles are independent by construction. Where a search of a few hundred legs
// finds a way shorter than the tree's, that one is taken: a ladder gets its windows instead of ever longer loops.
CycleBasis short_cycle_basis(int nodes, const std::vector<GraphLeg>& legs, std::size_t total_length_limit);

}  // namespace trammel::rank
