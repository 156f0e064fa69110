#include "trammel/run/stress_watch.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "trammel/flexible/section_stress.h"
#include "trammel/model/modal_data.h"

namespace trammel {

StressWatch::StressWatch(const Equations& equations) : equations_(equations) {
  const std::vector<Body>& bodies = equations.model().bodies;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].modal == nullptr || bodies[i].modal->stress_points.empty()) continue;
    const ModalData& data = *bodies[i].modal;
    const BodyElement& body = equations.body(static_cast<int>(i));
    const auto points = static_cast<Eigen::Index>(data.stress_points.size());
    watched_.push_back({static_cast<int>(i), body.at().q + body.coordinates() - data.modes(), Vec::Zero(6 * points),
                        Vec::Zero(points), Vec::Zero(points)});
  }
}

void StressWatch::look(const State& state) {
  for (Watched& w : watched_) {
    const ModalData& data = *equations_.model().bodies[w.body].modal;
    w.resultants.noalias() = data.stress_resultants * state.q.segment(w.first, data.modes());
    for (Eigen::Index i = 0; i < w.greatest.size(); ++i) {
      const double stress =
          von_mises(data.stress_points[static_cast<std::size_t>(i)].section, w.resultants.segment<6>(6 * i));
      if (!(stress > w.greatest[i])) continue;
      w.greatest[i] = stress;
      w.at[i] = state.t;
    }
  }
}

std::vector<HotSpot> StressWatch::hot_spots() const {
  std::vector<HotSpot> out;
  for (const Watched& w : watched_) {
    const Body& body = equations_.model().bodies[w.body];
    std::vector<Eigen::Index> order(static_cast<std::size_t>(w.greatest.size()));
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&w](Eigen::Index a, Eigen::Index b) { return w.greatest[a] > w.greatest[b]; });
    std::set<int> told;
    for (const Eigen::Index i : order) {
      const StressPoint& point = body.modal->stress_points[static_cast<std::size_t>(i)];
      if (std::ssize(told) == body.modal->hot_spots) break;
      if (!told.insert(point.region).second) continue;
      out.push_back({body.name, point.place, point.position, w.greatest[i], w.at[i]});
    }
  }
  return out;
}

void StressWatch::visit(Archive& archive) {
  for (Watched& w : watched_) {
    const Eigen::Index points = w.greatest.size();
    archive(w.greatest, w.at);
    archive.expect(w.greatest.size() == points && w.at.size() == points);
  }
}

}  // namespace trammel
