#include "trammel/elements/contacts/profile.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trammel {
namespace {

// From a circle; inside out where `side` is -1. At its centre all directions are as near.
double from_circle(const Eigen::Vector2d& from_center, double radius, double side, Eigen::Vector2d& gradient,
                   double& curvature) {
  const double length = from_center.norm();
  gradient = length > 0 ? Eigen::Vector2d(side / length * from_center) : Eigen::Vector2d(0, side);
  curvature = length > 0 ? side / length : 0;
  return side * (length - radius);
}

class BarProfile final : public Profile {
 public:
  BarProfile(double half_length, double radius) : half_length_(half_length), radius_(radius) {}

  double distance(const Eigen::Vector2d& place, Eigen::Vector2d& gradient, double& curvature) const override {
    const double nearest = std::clamp(place.x(), -half_length_, half_length_);
    const double distance = from_circle(place - Eigen::Vector2d(nearest, 0), radius_, 1, gradient, curvature);
    if (std::abs(place.x()) < half_length_) curvature = 0;
    return distance;
  }

 private:
  double half_length_, radius_;
};

class SprocketProfile final : public Profile {
 public:
  explicit SprocketProfile(const Sprocket& sprocket)
      : step_(2 * std::numbers::pi / sprocket.teeth),
        pocket_radius_(sprocket.pocket),
        tip_radius_(sprocket.tip),
        pocket_(sprocket.pitch_radius(), 0),
        tip_(sprocket.tip_center() * Eigen::Vector2d(std::cos(step_ / 2), std::sin(step_ / 2))),
        to_tip_(tip_ - pocket_) {}

  // In the half of one pocket nearest to the place: there the line from the pocket's centre to the tip's parts the two
  // arcs, which touch on it.
  double distance(const Eigen::Vector2d& place, Eigen::Vector2d& gradient, double& curvature) const override {
    const double turn = step_ * std::round(std::atan2(place.y(), place.x()) / step_);
    const Eigen::Rotation2Dd back(turn);
    Eigen::Vector2d here = back.inverse() * place;
    const double half = here.y() < 0 ? -1 : 1;
    here.y() *= half;
    const Eigen::Vector2d from_pocket = here - pocket_;
    const bool inwards = to_tip_.x() * from_pocket.y() - to_tip_.y() * from_pocket.x() > 0;
    const double distance = inwards ? from_circle(from_pocket, pocket_radius_, -1, gradient, curvature)
                                    : from_circle(here - tip_, tip_radius_, 1, gradient, curvature);
    gradient.y() *= half;
    gradient = back * gradient;
    return distance;
  }

 private:
  double step_, pocket_radius_, tip_radius_;
  Eigen::Vector2d pocket_, tip_, to_tip_;
};

}  // namespace

double Sprocket::pitch_radius() const { return pitch / (2 * std::sin(std::numbers::pi / teeth)); }

double Sprocket::tip_center() const {
  const double both = pocket + tip;
  return pitch_radius() * std::cos(std::numbers::pi / teeth) - std::sqrt(both * both - 0.25 * pitch * pitch);
}

std::unique_ptr<const Profile> bar_profile(double half_length, double radius) {
  return std::make_unique<BarProfile>(half_length, radius);
}

std::unique_ptr<const Profile> sprocket_profile(const Sprocket& sprocket) {
  return std::make_unique<SprocketProfile>(sprocket);
}

}  // namespace trammel
