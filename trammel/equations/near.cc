// Contacts of sets: a list of the pairs that are near. Only they are evaluated and stand in the patterns, so that cost
// follows what is near, not how many pairs there are.
//
// A pair is in the list if its gap was at most the margin when the list was made. Gaps shrink by no more than their two
// shapes have moved since, so the list misses nothing that touches while the two that moved most have together moved by
// at most the margin. A shape that turns by theta about its frame's origin moves by at most
//
//   2 sin(theta/2) r                            inside a ball of radius r
//   2 sin(theta/2) (r + z) + theta^2 a          inside a tube, as far as those matter that are up to z along its axis
//                                               and a away
//   2 sin(theta/2) a                            without an end
//
// An open contact adds exact zeros to forces and derivatives: a residual has the same bits whatever the margin.
#include <algorithm>
#include <cmath>
#include <map>

#include "trammel/elements/contacts/contact.h"
#include "trammel/equations/equations.h"

namespace trammel {

void Equations::find_sets() {
  std::map<int, int> member_of;  // frames
  const auto member = [&](const Contact& contact, int frame, int side) {
    const auto found = member_of.try_emplace(frame, static_cast<int>(members_.size())).first;
    // Of all its shapes.
    const bool is_new = static_cast<int>(members_.size()) == found->second;
    if (is_new) members_.emplace_back().frame = frame;
    ShapeExtent& known = members_[found->second].extent;
    if (is_new) known.bound = ShapeExtent::ball;
    const ShapeExtent own = contact.extent(side);
    known.radius = std::max(known.radius, own.radius);
    if (own.bound == ShapeExtent::none || known.bound == ShapeExtent::ball) known.bound = own.bound;
    return found->second;
  };
  for (int i = 0; i < force_count(); ++i) {
    in_play_.push_back(i);
    const ForceRecord& f = forces_[i];
    // What remembers, or stands in part B of a step, is never left out.
    const auto* contact = dynamic_cast<const Contact*>(f.element.get());
    if (contact == nullptr || f.item->set.empty() || f.item->implicit || contact->memory() > 0) continue;
    of_sets_.push_back(i);
    set_pairs_.push_back({contact, {member(*contact, f.frames[0], 0), member(*contact, f.frames[1], 1)}});
  }
  // Balls on one rigid body move as one about the origin of the first.
  std::map<int, int> first_of;  // bodies
  for (int i = 0; i < std::ssize(members_); ++i) {
    SetMember& own = members_[i];
    own.swing = own.extent.radius;
    const BodyFrame& f = frames_[own.frame];
    if (f.body == ground) continue;
    const bool single = own.extent.bound != ShapeExtent::ball || !f.rigid;
    const auto [found, is_new] = single ? std::pair(first_of.end(), true) : first_of.try_emplace(f.body, i);
    if (is_new) {
      movers_.push_back(i);
      continue;
    }
    SetMember& first = members_[found->second];
    first.swing = std::max(first.swing, (f.arm - frames_[first.frame].arm).norm() + own.extent.radius);
  }
}

void Equations::list_pairs(const Vec& q, double margin) {
  const std::vector<int> before = in_play_;
  choose_pairs(q, margin);
  if (in_play_ != before) make_vv();
}

void Equations::take_all_pairs() { list_pairs(Vec(), -1); }

void Equations::choose_pairs(const Vec& q, double margin) {
  list_ = {q, margin};
  in_play_.clear();
  State state = initial_state();
  Workspace work = make_workspace();
  if (lists_pairs()) state.q = q;
  body_states(state.q, state.v, work);
  for (SetMember& member : members_) {
    const FrameState now = frame(frames_[member.frame], work);
    member.p = now.p;
    member.R = now.R;
    member.along = member.away = 0;
  }
  std::size_t pair = 0;
  for (int f = 0; f < force_count(); ++f) {
    const bool of_set = pair < of_sets_.size() && of_sets_[pair] == f;
    if (!of_set || !lists_pairs() || is_near(pair, state, work)) in_play_.push_back(f);
    pair += of_set ? 1 : 0;
  }
}

bool Equations::is_near(std::size_t pair, const State& state, const Workspace& work) {
  const auto& [contact, members] = set_pairs_[pair];
  SetMember &a = members_[members[0]], &b = members_[members[1]];
  const Vec3 apart = b.p - a.p;
  const bool ball_a = a.extent.bound == ShapeExtent::ball, ball_b = b.extent.bound == ShapeExtent::ball;
  if (ball_a && ball_b) {
    const double reach = a.extent.radius + b.extent.radius + list_.margin;
    if (apart.squaredNorm() > reach * reach) return false;
  } else if (!ball_a && !ball_b) {
    return true;
  } else {
    SetMember& endless = ball_a ? b : a;
    const double radius = (ball_a ? a : b).extent.radius, distance = apart.norm() + radius;
    endless.along = std::max(endless.along, std::abs(apart.dot(endless.R.col(2))) + radius);
    endless.away = std::max(endless.away, distance);
  }
  const ForceRecord& f = forces_[of_sets_[pair]];
  FrameState frames[max_frames];
  frame_states(f, work, frames);
  return contact->gap(element_input(f, state, frames, work)) <= list_.margin;
}

// How far a point of its shape has moved, at most.
double Equations::displaced(const SetMember& member, double shift, double turn) const {
  const double r = member.extent.radius, margin = list_.margin;
  switch (member.extent.bound) {
    case ShapeExtent::ball: return shift + turn * member.swing;
    case ShapeExtent::tube: return shift + turn * (r + member.along + margin) + turn * turn * (member.away + margin);
    case ShapeExtent::none: break;
  }
  return shift + turn * (member.away + margin);
}

namespace {

// Of the two that move most.
class TwoGreatest {
 public:
  void take(double x) {
    second_ = std::max(second_, std::min(x, first_));
    first_ = std::max(first_, x);
  }
  double sum() const { return first_ + second_; }

 private:
  double first_ = 0, second_ = 0;
};

}  // namespace

double Equations::approached(const State& state, Workspace& work) const {
  body_states(state.q, state.v, work);
  TwoGreatest moves;
  for (const int i : movers_) {
    const SetMember& member = members_[i];
    const FrameState now = frame(frames_[member.frame], work);
    // |R - R'| = 2 sqrt(2) sin(theta/2)
    moves.take(displaced(member, (now.p - member.p).norm(), (now.R - member.R).norm() * std::sqrt(0.5)));
  }
  return moves.sum();
}

double Equations::approach_within(double h, const State& state, const Rates& rates, Workspace& work) const {
  body_states(state.q, state.v, work);
  TwoGreatest moves;
  const bool accelerated = rates.a.size() > 0;
  for (const int i : movers_) {
    const SetMember& member = members_[i];
    const BodyFrame& f = frames_[member.frame];
    const FrameState now = frame(f, work);
    Vec3 spin = Vec3::Zero();
    const Vec3 rise = accelerated ? frame_acceleration(f, rates, work, &spin) : Vec3::Zero();
    moves.take(
        displaced(member, h * (now.v.norm() + 0.5 * h * rise.norm()), h * (now.w.norm() + 0.5 * h * spin.norm())));
  }
  return moves.sum();
}

void Equations::visit_pattern(Archive& archive, std::shared_ptr<const Pattern>& vv) const {
  if (pairs_in_sets() == 0) return;
  std::vector<int> start = vv->start(), row = vv->row();
  archive(start, row);
  if (!archive.reading()) return;
  const std::size_t columns = vv_->start().size();
  archive.expect(start.size() == columns && start[0] == 0 && std::is_sorted(start.begin(), start.end()) &&
                 start[columns - 1] == static_cast<int>(row.size()) &&
                 std::all_of(row.begin(), row.end(), [this](int i) { return i >= 0 && i < sizes_.nv; }));
  if (start == vv_->start() && row == vv_->row()) {
    vv = vv_;
    return;
  }
  std::vector<Pattern::Entry> entries;
  for (int j = 0; j < sizes_.nv; ++j)
    for (int p = start[j]; p < start[j + 1]; ++p) entries.push_back({row[p], j});
  vv = std::make_shared<const Pattern>(sizes_.nv, sizes_.nv, entries);
}

}  // namespace trammel
