// General linear stiffness and damping between 2 to 8 frames, as a condensed finite element model gives them. With the
// relative motion y_i of frame i against the first one (relative_motion.h), counted from the drawn position,
//
//   x = (y_2 - y_2,drawn, ..., y_n - y_n,drawn),   s = K x + D x' - P,   all in the axes of the first frame
//
// the wrenches of each part of s act between frame i and the first. K derives exactly from x^T K x / 2 - P^T x and D
// dissipates exactly x'^T D x'. A matrix for all frames, 6 n x 6 n, must be free of stress for rigid motions; the rows
// and columns of the first frame then follow from the others and are dropped.
#include <cmath>

#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/relative_motion.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

constexpr int most_rows = 6 * (max_frames - 1);
using LinkMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, most_rows, most_rows>;
using LinkVector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, most_rows, 1>;
using LinkRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, most_rows, 6 * max_frames>;

// The drawn place of a frame against the first.
struct DrawnLink {
  Vec3 r;
  Mat3 back;  // inverse of its rotation
};

class StiffnessMatrix final : public Force {
 public:
  StiffnessMatrix(LinkMatrix stiffness, LinkMatrix damping, LinkVector preload, std::vector<DrawnLink> drawn)
      : K_(std::move(stiffness)), D_(std::move(damping)), P_(std::move(preload)), drawn_(std::move(drawn)) {}

  int frames() const override { return links() + 1; }
  bool uses_velocity() const override { return !D_.isZero(0); }

  bool evaluate(const ElementInput& in, double* wrench) const override {
    LinkVector s;
    if (!stress(in, s)) return false;
    Eigen::Map<FrameVector> out(wrench, 6 * frames());
    out.setZero();
    for (int i = 0; i < links(); ++i) {
      const RelativeMotion::Wrench one = motion(in, i).wrench(s.segment<6>(6 * i));
      out.head<6>() += one.head<6>();
      out.segment<6>(6 * (i + 1)) += one.tail<6>();
    }
    return true;
  }

  void linearise(const ElementInput& in, ForcePartials& out) const override {
    out.set_zero(frames());
    LinkVector s;
    stress(in, s);
    LinkRows J = LinkRows::Zero(6 * links(), 6 * frames()), rate_pose = J;
    for (int i = 0; i < links(); ++i) {
      const RelativeMotion now = motion(in, i);
      const int at = 6 * (i + 1);
      const RelativeMotion::Rows row = now.jacobian(), rate_row = now.rate_pose();
      J.block<6, 6>(6 * i, 0) = row.leftCols<6>();
      J.block<6, 6>(6 * i, at) = row.rightCols<6>();
      rate_pose.block<6, 6>(6 * i, 0) = rate_row.leftCols<6>();
      rate_pose.block<6, 6>(6 * i, at) = rate_row.rightCols<6>();
      const PairMatrix turned_stress = now.wrench_pose(s.segment<6>(6 * i));
      out.pose.block<6, 6>(0, 0) += turned_stress.topLeftCorner<6, 6>();
      out.pose.block<6, 6>(0, at) += turned_stress.topRightCorner<6, 6>();
      out.pose.block<6, 6>(at, 0) += turned_stress.bottomLeftCorner<6, 6>();
      out.pose.block<6, 6>(at, at) += turned_stress.bottomRightCorner<6, 6>();
    }
    LinkRows product = K_.lazyProduct(J);
    product += D_.lazyProduct(rate_pose);
    out.pose -= J.transpose().lazyProduct(product);
    product = D_.lazyProduct(J);
    out.twist -= J.transpose().lazyProduct(product);
  }

  double potential_energy(const ElementInput& in) const override {
    LinkVector x, rate;
    gather(in, x, rate);
    return 0.5 * x.dot(K_.lazyProduct(x)) - P_.dot(x);
  }
  double dissipated_power(const ElementInput& in) const override {
    LinkVector x, rate;
    gather(in, x, rate);
    return rate.dot(D_.lazyProduct(rate));
  }
  bool energy_is_complete() const override { return true; }

  std::vector<Observable> observables() const override {
    std::vector<Observable> out;
    for (int i = 0; i < links(); ++i) {
      const std::string number = std::to_string(i + 2);
      for (const char* name : {"fx", "fy", "fz"}) out.push_back({name + number, "N"});
      for (const char* name : {"tx", "ty", "tz"}) out.push_back({name + number, "N m"});
    }
    return out;
  }
  void observe(const ElementInput& in, double* values) const override {
    LinkVector s;
    stress(in, s);
    for (int i = 0; i < links(); ++i) {
      Eigen::Map<Vec6> out(values + 6 * i);
      out = motion(in, i).wrench_on_b(s.segment<6>(6 * i));
    }
  }

 private:
  int links() const { return static_cast<int>(drawn_.size()); }
  RelativeMotion motion(const ElementInput& in, int i) const {
    return {in.frames[0], in.frames[i + 1], Mat3::Identity(), drawn_[i].back};
  }
  bool gather(const ElementInput& in, LinkVector& x, LinkVector& rate) const {
    x.resize(6 * links());
    rate.resize(6 * links());
    bool usable = true;
    for (int i = 0; i < links(); ++i) {
      const RelativeMotion now = motion(in, i);
      usable = usable && now.usable();
      x.segment<6>(6 * i) = now.y();
      x.segment<3>(6 * i) -= drawn_[i].r;
      rate.segment<6>(6 * i) = now.rate();
    }
    return usable;
  }
  bool stress(const ElementInput& in, LinkVector& s) const {
    LinkVector x, rate;
    const bool usable = gather(in, x, rate);
    s = K_.lazyProduct(x) - P_;
    s += D_.lazyProduct(rate);
    return usable;
  }

  LinkMatrix K_, D_;
  LinkVector P_;
  std::vector<DrawnLink> drawn_;
};

[[noreturn]] void fail_matrix(const Item& item, const char* id, const std::string& what, const std::string& hint) {
  throw Failure({Severity::error, id, "force '" + item.name + "': " + what, hint, item.where});
}

// The matrix of a field in relative motions; zero if it is left out.
LinkMatrix link_matrix(const Item& item, const char* field, const std::vector<DrawnLink>& drawn) {
  const auto& numbers = item.fields.get<std::vector<double>>(field);
  const auto links = static_cast<int>(drawn.size());
  const int small = 6 * links, large = small + 6;
  if (numbers.empty()) return LinkMatrix::Zero(small, small);
  const auto size = static_cast<int>(std::lround(std::sqrt(static_cast<double>(numbers.size()))));
  if (size * size != static_cast<int>(numbers.size()) || (size != small && size != large)) {
    fail_matrix(item, "wrong-length",
                std::string("'") + field + "' must have " + std::to_string(small) +
                    " rows (all frames but the first) or " + std::to_string(large) + " (all frames), not " +
                    std::to_string(size),
                "six for each frame: x, y, z, about x, about y, about z, in the axes of the first frame");
  }
  const Mat all = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      numbers.data(), size, size);
  const double scale = all.cwiseAbs().maxCoeff();
  if ((all - all.transpose()).cwiseAbs().maxCoeff() > 1e-9 * scale) {
    fail_matrix(item, "not-symmetric", std::string("'") + field + "' is not symmetric",
                "give both halves of the matrix alike");
  }
  if (size == large) {
    // Rigid motions: all frames move by u + w x r_i and turn by w.
    Mat rigid = Mat::Zero(large, 6);
    double reach = 0;
    for (int i = 0; i <= links; ++i) {
      const Vec3 r = i == 0 ? Vec3(Vec3::Zero()) : drawn[i - 1].r;
      reach = std::max(reach, r.norm());
      rigid.block<3, 3>(6 * i, 0).setIdentity();
      rigid.block<3, 3>(6 * i, 3) = -skew(r);
      rigid.block<3, 3>(6 * i + 3, 3).setIdentity();
    }
    if ((all * rigid).cwiseAbs().maxCoeff() > 1e-6 * scale * std::max(1.0, reach)) {
      fail_matrix(item, "not-free",
                  std::string("'") + field + "' is not free of stress for rigid motions of the frames",
                  "check the order and axes of the frames, and that they stand where the matrix was made; or give the "
                  "matrix without the first frame");
    }
  }
  const Mat part = all.bottomRightCorner(small, small);
  return 0.5 * (part + part.transpose());
}

}  // namespace

ElementDescription describe_stiffness_matrix() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "stiffness_matrix";
  d.summary = "General linear stiffness and damping between up to eight frames, counted from the given pose.";
  d.attachment = Attachment::several;
  const std::vector<double> none;
  d.fields = {
      {"stiffness", FieldKind::matrix, Quantity::stiffness, std::nullopt,
       "Symmetric, six rows for each frame but the first, or for all; in the axes of the first frame."},
      {"damping", FieldKind::matrix, Quantity::damping, none, "The same for damping, without negative eigenvalue."},
      {"preload_force", FieldKind::numbers, Quantity::force, none,
       "Forces on the frames but the first in the given pose, three for each."},
      {"preload_torque", FieldKind::numbers, Quantity::torque, none,
       "Torques on the frames but the first in the given pose, three for each."},
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    if (item.frames.size() < 2 || item.frames.size() > static_cast<std::size_t>(max_frames)) {
      fail_matrix(item, "missing-frame", "it acts between 2 to " + std::to_string(max_frames) + " frames",
                  "write frames: [frame, frame, ...]");
    }
    const Pose first = context.model.frame_pose(item.frames[0]);
    std::vector<DrawnLink> drawn;
    for (std::size_t i = 1; i < item.frames.size(); ++i) {
      const Pose pose = context.model.frame_pose(item.frames[i]);
      drawn.push_back({first.rotation.conjugate() * (pose.position - first.position),
                       (pose.rotation.conjugate() * first.rotation).toRotationMatrix()});
    }
    const auto links = static_cast<int>(drawn.size());
    LinkVector preload = LinkVector::Zero(6 * links);
    for (const auto& [field, offset] : {std::pair{"preload_force", 0}, std::pair{"preload_torque", 3}}) {
      const auto& numbers = item.fields.get<std::vector<double>>(field);
      if (numbers.empty()) continue;
      if (static_cast<int>(numbers.size()) != 3 * links) {
        fail_matrix(item, "wrong-length",
                    std::string("'") + field + "' must have " + std::to_string(3 * links) + " numbers, not " +
                        std::to_string(numbers.size()),
                    "three for each frame but the first");
      }
      for (int i = 0; i < links; ++i) {
        preload.segment<3>(6 * i + offset) =
            Eigen::Map<const Vec3>(numbers.data() + static_cast<std::ptrdiff_t>(3 * i));
      }
    }
    const LinkMatrix K = link_matrix(item, "stiffness", drawn), D = link_matrix(item, "damping", drawn);
    if (D.size() > 0 && !D.isZero(0)) {
      // Lengths and angles scaled to one size first, so that the smallest eigenvalue is judged fairly.
      Vec size(D.rows());
      for (int i = 0; i < D.rows(); ++i) size[i] = D(i, i) > 0 ? 1 / std::sqrt(D(i, i)) : 1;
      const Mat scaled = size.asDiagonal() * D * size.asDiagonal();
      if (symmetric_eigenvalues(scaled)[0] < -1e-9) {
        fail_matrix(item, "not-positive", "'damping' has a direction in which it would drive",
                    "check the signs of the coupling terms");
      }
    }
    return std::make_unique<StiffnessMatrix>(K, D, preload, std::move(drawn));
  };
  d.random_frames = 3;
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    for (const char* name : {"stiffness", "damping"}) {
      Mat a(12, 12);
      for (int i = 0; i < a.size(); ++i) a.data()[i] = random_between(-0.4, 0.4, random);
      const Mat m = a * a.transpose();
      fields.set(name, std::vector<double>(m.data(), m.data() + m.size()));
    }
    std::vector<double> force, torque;
    for (int i = 0; i < 6; ++i) {
      force.push_back(random_between(-1, 1, random));
      torque.push_back(random_between(-1, 1, random));
    }
    fields.set("preload_force", force);
    fields.set("preload_torque", torque);
    return fields;
  };
  return d;
}

}  // namespace trammel
