#include "trammel/couple/gluing.h"
#include "trammel/elements/build.h"

#include <cmath>

#include "trammel/elements/registry.h"

namespace trammel {
namespace {

Model glue_model(const std::vector<InterfaceFrame>& frames, const std::vector<FrameState>& at,
                 const std::vector<Item>& joints) {
  Model model;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    Body body;
    body.name = frames[i].name;
    body.mass = 1;
    body.inertia = Mat3::Identity();
    body.pose = {at[i].p, Quat(at[i].R)};
    model.add_frame(model.add_body(std::move(body)), {}, frames[i].name);
  }
  for (const Item& joint : joints) {
    const ElementDescription& description = find_element(Category::joint, joint.type, joint.where);
    if (description.attachment != Attachment::joint && description.attachment != Attachment::two_points) {
      throw Failure({Severity::error, "joint-not-gluable",
                     "joint '" + joint.name + "': a " + joint.type + " acts on more than two frames",
                     "keep all bodies it acts on in one participant", joint.where});
    }
    const std::size_t bodies = model.bodies.size();
    add_joint(model, joint.type, joint.name, joint.frames, joint.fields);
    model.joints.back().where = joint.where;
    if (model.bodies.size() != bodies || model.joints.back().frames.size() != 2) {
      throw Failure({Severity::error, "joint-not-gluable",
                     "joint '" + joint.name + "': a " + joint.type + " has a coordinate of its own",
                     "keep it in one participant", joint.where});
    }
  }
  return model;
}

}  // namespace

Gluing::Gluing(const std::vector<InterfaceFrame>& frames, const std::vector<FrameState>& at,
               const std::vector<Item>& joints)
    : equations_(glue_model(frames, at, joints)),
      work_(equations_.make_workspace()),
      state_(equations_.initial_state()),
      rates_(equations_.make_rates()),
      residual_(equations_.make_residual()),
      partials_(equations_.make_partials(Detail::all)),
      rate_(Vec::Zero(equations_.sizes().multipliers())) {
  for (const int row : equations_.velocity_rows()) {
    const Equations::ConstraintInfo info = equations_.constraint_info(equations_.constraint_of_row(row));
    throw Failure({Severity::error, "joint-not-gluable",
                   "joint '" + info.item->name + "': a " + info.item->type + " binds velocities, not positions",
                   "keep it in one participant", info.item->where});
  }
  for (int r = 0; r < equations_.sizes().multipliers(); ++r) active_.push_back(r);
  rows_of_.resize(joints.size());
  for (int j = 0; j < static_cast<int>(joints.size()); ++j) {
    const Equations::ConstraintInfo info = equations_.constraint_info(j);
    rows_of_[j] = {info.first_row, info.rows};
  }
  set_state(0, at);
  equations_.start(state_, work_);
}

void Gluing::set_state(double t, const std::vector<FrameState>& frames) {
  state_.t = t;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int q0 = equations_.first_coordinate(static_cast<int>(i)),
              v0 = equations_.first_velocity(static_cast<int>(i));
    const Quat rotation(frames[i].R);
    state_.q.segment<3>(q0) = frames[i].p;
    state_.q.segment<4>(q0 + 3) << rotation.w(), rotation.x(), rotation.y(), rotation.z();
    state_.v.segment<3>(v0) = frames[i].v;
    state_.v.segment<3>(v0 + 3) = frames[i].R.transpose() * frames[i].w;
  }
}

void Gluing::residual(double t, const std::vector<FrameState>& frames, Vec& g, Vec* g_dot) {
  set_state(t, frames);
  equations_.residual(state_, rates_, Part::joints, residual_, work_);
  g.resize(rows());
  for (int r = 0; r < rows(); ++r) g[r] = residual_.g[active_[r]];
  if (g_dot == nullptr) return;
  equations_.velocity_residual(state_, rate_, work_);
  g_dot->resize(rows());
  for (int r = 0; r < rows(); ++r) (*g_dot)[r] = rate_[active_[r]];
}

void Gluing::wrenches(double t, const std::vector<FrameState>& frames, const double* lambda, Vec& out) {
  set_state(t, frames);
  equations_.update(state_, work_);
  rates_.lambda.setZero();
  for (int r = 0; r < rows(); ++r) rates_.lambda[active_[r]] = lambda[r];
  out.setZero(6 * static_cast<Eigen::Index>(frames.size()));
  double wrench[12];
  for (int j = 0; j < equations_.constraint_count(); ++j) {
    equations_.reactions(j, state_, rates_, work_, wrench);
    const std::vector<int>& on = joints()[j].frames;
    for (std::size_t side = 0; side < 2; ++side)
      out.segment<6>(6 * on[side]) += Eigen::Map<const Vec6>(wrench + 6 * side);
  }
}

Mat Gluing::wrench_matrix(double t, const std::vector<FrameState>& frames) {
  Mat B(6 * static_cast<Eigen::Index>(frames.size()), rows());
  Vec unit = Vec::Zero(rows()), column;
  for (int r = 0; r < rows(); ++r) {
    unit[r] = 1;
    wrenches(t, frames, unit.data(), column);
    B.col(r) = column;
    unit[r] = 0;
  }
  return B;
}

std::vector<std::string> Gluing::drop_rows(const std::vector<FrameState>& frames, const Mat& compliance) {
  const Mat B = wrench_matrix(state_.t, frames);
  const Vec diagonal = (B.transpose() * compliance * B).diagonal();
  const double least = 1e-10 * diagonal.cwiseAbs().maxCoeff();
  std::vector<std::string> dropped;
  std::vector<int> kept;
  std::vector<Rows> rows_of;
  for (const Rows& joint : rows_of_) {
    Rows now{static_cast<int>(kept.size()), 0};
    for (int r = joint.first; r < joint.first + joint.count; ++r) {
      if (diagonal[r] > least) {
        kept.push_back(active_[r]);
        ++now.count;
      } else {
        dropped.push_back(row_name(r));
      }
    }
    rows_of.push_back(now);
  }
  active_ = kept;
  rows_of_ = rows_of;
  return dropped;
}

// Bodies of the glue model turn by R exp(dtheta), dtheta = R^T dphi, and have angular velocities in their own axes:
// d(R^T w) = R^T (dw - dphi x w).
void Gluing::linearise(double t, const std::vector<FrameState>& frames, Mat& g_pose, Mat& rate_pose) {
  set_state(t, frames);
  equations_.linearise(state_, rates_, Detail::all, partials_, work_);
  const Mat G = equations_.gv().dense(partials_.G), Gv_q = equations_.gv().dense(partials_.Gv_q);
  g_pose.resize(rows(), G.cols());
  rate_pose.resize(rows(), G.cols());
  for (int r = 0; r < rows(); ++r) {
    g_pose.row(r) = G.row(active_[r]);
    rate_pose.row(r) = Gv_q.row(active_[r]);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Eigen::Index c = 6 * static_cast<Eigen::Index>(i) + 3;
    const Mat3 RT = frames[i].R.transpose();
    g_pose.middleCols<3>(c) = (g_pose.middleCols<3>(c) * RT).eval();
    rate_pose.middleCols<3>(c) = (rate_pose.middleCols<3>(c) * RT).eval() + g_pose.middleCols<3>(c) * skew(frames[i].w);
  }
}

void Gluing::accept(double t, const std::vector<FrameState>& frames) {
  set_state(t, frames);
  equations_.accept(state_, work_);
}

}  // namespace trammel
