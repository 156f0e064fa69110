#include "trammel/flexible/section_stress.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trammel/base/numbers.h"

namespace trammel {
namespace {

using std::numbers::pi;

// Torsion of a rectangle a > b (S. P. Timoshenko, J. N. Goodier, Theory of Elasticity, chapter 10): the stress at the
// middle of the long side and of the short one,
//
//   tau = T b/J (1 - 8/pi^2 sum_odd 1/(n^2 cosh(n pi a/2b))),   T b/J 8/pi^2 sum_odd (-1)^((n-1)/2) tanh(n pi a/2b)/n^2
//
// where what tanh leaves of 1 falls like e^(-n pi), and the sum of ones is Catalan's number.
struct Torsion {
  double at_long = 0, at_short = 0;  // tau by T
};

Torsion torsion_of_rectangle(double a, double b, double J) {
  double of_long = 0, of_short = 0.91596559417721901505;
  double sign = 1;
  for (int n = 1; n < 24; n += 2, sign = -sign) {
    const double x = n * pi * a / (2 * b);
    of_long += 1 / (n * n * std::cosh(x));
    of_short -= sign * 2 / (n * n * (std::exp(2 * x) + 1));
  }
  const double eight = 8 / (pi * pi);
  return {b / J * (1 - eight * of_long), b / J * eight * of_short};
}

double combined(double sigma, double tau) { return std::sqrt(sigma * sigma + 3 * tau * tau); }

}  // namespace

std::optional<StressSection> stress_section(const BeamSection& s) {
  if (!(s.width > 0) || !(s.height > 0)) return std::nullopt;
  StressSection out;
  out.round = s.round;
  out.tension = 1 / s.area;
  out.bending_y = 0.5 * s.height / s.Iy;
  out.bending_z = 0.5 * s.width / s.Iz;
  if (s.round) {
    out.torsion_y = out.torsion_z = 0.5 * s.width / s.torsion;
    return out;
  }
  const bool wide = s.width >= s.height;
  const Torsion t = torsion_of_rectangle(std::max(s.width, s.height), std::min(s.width, s.height), s.torsion);
  // The long sides are those that bending about y pulls, if it is wide.
  out.torsion_y = wide ? t.at_long : t.at_short;
  out.torsion_z = wide ? t.at_short : t.at_long;
  return out;
}

double von_mises(const StressSection& s, const Vec6& r) {
  const double N = std::abs(r[0]) * s.tension, T = std::abs(r[3]), My = std::abs(r[4]) * s.bending_y,
               Mz = std::abs(r[5]) * s.bending_z;
  if (s.round) return combined(N + std::hypot(My, Mz), T * s.torsion_y);
  return std::max({N + My + Mz, combined(N + My, T * s.torsion_y), combined(N + Mz, T * s.torsion_z)});
}

void add_stress_points(const BeamFrame& frame, const FiniteElements& elements, const Mat& shapes, ModalData& data) {
  const auto ends = static_cast<Eigen::Index>(2 * elements.beams.size());
  data.stress_resultants.setZero(6 * ends, shapes.cols());
  data.stress_points.clear();
  Eigen::Matrix<double, 12, Eigen::Dynamic> local(12, shapes.cols());
  for (const BeamElement& element : elements.beams) {
    const BeamFrame::Beam& beam = frame.beams[element.beam];
    const Mat3 to_beam = frame.axes(beam).transpose();
    for (int i = 0; i < 2; ++i) {
      const int node = i == 0 ? element.first : element.second;
      local.middleRows<3>(6 * i) = to_beam * shapes.middleRows<3>(6 * node);
      local.middleRows<3>(6 * i + 3) = to_beam * shapes.middleRows<3>(6 * node + 3);
    }
    // Forces on the ends of the element; a section is pulled by what stands beyond it along the beam.
    local = (element_stiffness(frame, element) * local).eval();
    for (int i = 0; i < 2; ++i) {
      const auto at = static_cast<Eigen::Index>(data.stress_points.size());
      data.stress_resultants.middleRows<6>(6 * at) = (i == 0 ? -1 : 1) * local.middleRows<6>(6 * i);
      const Vec3 here = elements.nodes[i == 0 ? element.first : element.second];
      const BeamFrame::Node &a = frame.nodes[beam.first], &b = frame.nodes[beam.second];
      const double from_a = (here - a.position).norm(), from_b = (here - b.position).norm();
      const bool first_half = from_a <= from_b;
      const double away = std::min(from_a, from_b);
      StressPoint point;
      point.place = "beam '" + a.name + "' - '" + b.name + "', ";
      if (away > 1e-9 * (from_a + from_b))
        point.place += digits(away, 3) + " m from ";
      else
        point.place += "at ";
      point.place += "'" + (first_half ? a : b).name + "'";
      point.position = here;
      point.region = 2 * element.beam + (first_half ? 0 : 1);
      point.section = stress_section(frame.sections[beam.section]).value_or(StressSection{});
      data.stress_points.push_back(std::move(point));
    }
  }
}

}  // namespace trammel
