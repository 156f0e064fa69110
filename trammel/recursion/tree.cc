#include "trammel/recursion/tree.h"

#include <algorithm>

namespace trammel::recursion {

int Tree::add(Link link) {
  link.q = nq;
  link.u = nu;
  nq += coordinates(link.kind);
  nu += freedoms(link.kind);
  links.push_back(link);
  return size() - 1;
}

void Tree::set_inertia(Link& link, double mass, const Triple<double>& c, const Symmetric<double>& inertia) {
  link.mass = mass;
  link.moment = c * mass;
  link.J = {inertia.xx + mass * (c.y * c.y + c.z * c.z),
            inertia.xy - mass * c.x * c.y,
            inertia.xz - mass * c.x * c.z,
            inertia.yy + mass * (c.x * c.x + c.z * c.z),
            inertia.yz - mass * c.y * c.z,
            inertia.zz + mass * (c.x * c.x + c.y * c.y)};
}

int Tree::depth() const {
  std::vector<int> depths(links.size(), 0);
  int most = 0;
  for (std::size_t i = 1; i < links.size(); ++i) {
    depths[i] = depths[static_cast<std::size_t>(links[i].parent)] + 1;
    most = std::max(most, depths[i]);
  }
  return most;
}

}  // namespace trammel::recursion
