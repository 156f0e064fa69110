#include "trammel/formulate/spanning_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <queue>
#include <string_view>

#include "trammel/linalg/eigenvalues.h"

namespace trammel {
namespace {

using recursion::Kind;
using recursion::Link;

// Mass and inertia about the centre of mass, as the body multiplies accelerations; of a rigid kind.
struct Inertia {
  double mass = 0;
  Mat3 J = Mat3::Zero();
};
Inertia inertia_of(const BodyElement& body) {
  const RigidColumns& columns = *body.rigid();
  Inertia out;
  std::array<double, 6> a{}, Ma{};
  const std::vector<double> q(static_cast<std::size_t>(body.coordinates()), 0.0);
  for (int k = 0; k < columns.count; ++k) {
    a.fill(0);
    a[static_cast<std::size_t>(k)] = 1;
    body.multiply_mass(q.data(), a.data(), Ma.data());
    if (columns.column[k] < 3) {
      out.mass = Ma[static_cast<std::size_t>(k)];
      continue;
    }
    for (int i = 0; i < columns.count; ++i)
      if (columns.column[i] >= 3) out.J(columns.column[i] - 3, columns.column[k] - 3) = Ma[static_cast<std::size_t>(i)];
  }
  return out;
}

// Has it inertia in all that it can do? A rod about its axis has none, however its body's axes lie.
bool can_move_freely(const BodyElement& body) {
  const Inertia own = inertia_of(body);
  const RigidColumns& columns = *body.rigid();
  bool good = own.mass > 0;
  if (columns.count == 6) return good && symmetric_eigenvalues(own.J)[0] > 1e-13 * own.J.trace();
  for (int k = 0; k < columns.count; ++k)
    if (columns.column[k] >= 3) good = good && own.J(columns.column[k] - 3, columns.column[k] - 3) > 0;
  return good;
}

bool moves_in_space(const BodyElement& body) { return body.rigid()->count == 6; }
bool turns(const BodyElement& body) { return body.rigid()->column[body.rigid()->count - 1] >= 3; }

// The joints that can be branches of a tree: exactly these relative motions of their two frames.
std::optional<Kind> kind_of_branch(std::string_view joint_type) {
  constexpr std::pair<std::string_view, Kind> table[] = {{"fixed", Kind::fixed},
                                                         {"revolute", Kind::revolute},
                                                         {"translational", Kind::prismatic},
                                                         {"cylindrical", Kind::cylindrical},
                                                         {"universal", Kind::universal},
                                                         {"spherical", Kind::spherical}};
  for (const auto& [type, kind] : table)
    if (type == joint_type) return kind;
  return std::nullopt;
}

// The cross of a universal joint turns about x of the link's joint frame and carries the body about its own y; both are
// z axes of the model's frames.
const Mat3 z_as_x = (Mat3() << 0, 1, 0, 0, 0, 1, 1, 0, 0).finished();
const Mat3 z_as_y = (Mat3() << 0, 0, 1, 1, 0, 0, 0, 1, 0).finished();

// Frames of a joint that fit together turned by X as well: what the joint's zero position is then.
Mat3 nearest_fit(Kind kind, const Mat3& X) {
  const Mat3 flips[] = {Mat3::Identity(), Vec3(1, -1, -1).asDiagonal(), Vec3(-1, 1, -1).asDiagonal(),
                        Vec3(-1, -1, 1).asDiagonal()};
  if (kind == Kind::revolute || kind == Kind::cylindrical) return X(2, 2) < 0 ? flips[1] : flips[0];
  if (kind != Kind::fixed && kind != Kind::prismatic) return flips[0];
  for (const Mat3& flip : flips)
    if ((flip - X).cwiseAbs().maxCoeff() < 0.1) return flip;
  return Quat(X).normalized().toRotationMatrix();
}

}  // namespace

struct SpanningTree::Edge {
  static constexpr int first_of_all = 7;  // more rows than any joint has
  int rows, depth, constraint, from, to;
  // of the queue: the least is taken last
  bool operator<(const Edge& other) const {
    if (rows != other.rows) return rows < other.rows;
    if (depth != other.depth) return depth > other.depth;
    return constraint > other.constraint;
  }
};

struct SpanningTree::Grown {
  std::vector<std::vector<int>> children;  // of each body + 1
  std::vector<int> by;                     // constraint that carries each body; -1: it moves freely
};

std::string SpanningTree::why_not(const Equations& equations) {
  const Model& model = equations.model();
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (equations.body(static_cast<int>(b)).rigid() == nullptr)
      return "body '" + body.name + "' is of kind '" + body.kind + "', and the recursion knows rigid bodies only";
  }
  if (equations.has_modes())
    return "force '" + model.forces[equations.forces_with_modes().front()].name +
           "' holds its bodies by rows in some of its modes, and the tree is made of joints that always hold";
  if (equations.sees_rates())
    return equations.seers().front() +
           " depends on accelerations or reactions, and the recursion solves for them with forces that are known "
           "before";
  return "";
}

SpanningTree::SpanningTree(const Equations& equations, int most_depth, const std::vector<int>& inside)
    : equations_(equations) {
  if (const std::string why = why_not(equations); !why.empty()) {
    throw Failure({Severity::error, "method-refuses",
                   "formulation 'joint-coordinates' cannot take this mechanism: " + why,
                   "choose another formulation, such as 'index-1-projected'", equations.model().simulation.where});
  }
  const std::size_t bodies = equations.model().bodies.size();
  Grown grown{std::vector<std::vector<int>>(bodies + 1), std::vector<int>(bodies, -1)};
  std::vector<bool> is_inside(bodies, false);
  for (const int body : inside) is_inside[body] = true;
  grow(most_depth > 0 ? most_depth : static_cast<int>(bodies) + 1, is_inside, grown);
  link_of_.assign(bodies, 0);
  number(grown, ground, 0);
  tree_.gravity = to_triple(equations.model().gravity);
  std::vector<bool> carries(equations.constraint_count(), false);
  for (const Branch& branch : branches_) carries[branch.constraint] = true;
  for (int c = 0; c < equations.constraint_count(); ++c)
    if (!carries[c] && equations.constraint_info(c).rows > 0) cut_.push_back(c);
  Workspace work = equations.make_workspace();
  equations.update(equations.initial_state(), work);
  place(work);
}

std::vector<std::vector<SpanningTree::Edge>> SpanningTree::edges(const std::vector<bool>& inside) const {
  std::vector<std::vector<Edge>> edges(inside.size() + 1);
  for (int c = 0; c < equations_.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations_.constraint_info(c);
    if (info.is_motion || info.item->of_force >= 0) continue;
    const std::optional<Kind> kind = kind_of_branch(info.item->type);
    if (!kind) continue;
    const std::vector<int>& frames = equations_.constraint_frames(c);
    const int a = equations_.body_frame(frames[0]).body, b = equations_.body_frame(frames[1]).body;
    if (a == b) continue;
    // In a plane the rows out of it have left the equations; those that hold must be exactly the branch's own.
    const auto in_space = [&](int body) { return body == ground || moves_in_space(equations_.body(body)); };
    const auto can_turn = [&](int body) { return body == ground || turns(equations_.body(body)); };
    const auto in_plane = [&](int body) { return body == ground || !moves_in_space(equations_.body(body)); };
    const bool plane = !(in_space(a) && in_space(b));
    if (!can_turn(a) || !can_turn(b) || (plane && !(in_plane(a) && in_plane(b)))) continue;
    if (info.rows != (plane ? 3 : 6) - recursion::freedoms(*kind)) continue;
    const auto is_inside = [&](int body) { return body != ground && inside[body]; };
    const int rows = is_inside(a) || is_inside(b) ? Edge::first_of_all : info.rows;
    edges[a + 1].push_back({rows, 0, c, a, b});
    edges[b + 1].push_back({rows, 0, c, b, a});
  }
  return edges;
}

void SpanningTree::grow(int most_depth, const std::vector<bool>& inside, Grown& grown) const {
  const std::size_t bodies = grown.by.size();
  const std::vector<std::vector<Edge>> all = edges(inside);
  std::vector<int> depth(bodies + 1, 0);
  std::vector<bool> in(bodies + 1, false), solid(bodies);
  for (std::size_t b = 0; b < bodies; ++b) solid[b] = can_move_freely(equations_.body(static_cast<int>(b)));
  std::vector<int> roots(bodies);  // where nothing binds a part: solid bodies first, the heaviest of them
  std::iota(roots.begin(), roots.end(), 0);
  std::stable_sort(roots.begin(), roots.end(), [&](int a, int b) {
    if (solid[a] != solid[b]) return static_cast<bool>(solid[a]);
    return equations_.body(a).weight() > equations_.body(b).weight();
  });
  std::priority_queue<Edge> queue;
  const auto enter = [&](int body) {
    in[body + 1] = true;
    for (Edge each : all[body + 1]) {
      each.depth = depth[body + 1] + 1;
      queue.push(each);
    }
  };
  const auto take_all = [&] {
    while (!queue.empty()) {
      const Edge edge = queue.top();
      queue.pop();
      if (in[edge.to + 1]) continue;  // the ground always is
      if (edge.depth > most_depth && solid[edge.to] && edge.rows != Edge::first_of_all) continue;
      grown.by[edge.to] = edge.constraint;
      depth[edge.to + 1] = edge.depth;
      grown.children[edge.from + 1].push_back(edge.to);
      enter(edge.to);
    }
  };
  enter(ground);
  take_all();
  for (const int root : roots) {
    if (in[root + 1]) continue;
    depth[root + 1] = 1;
    grown.children[0].push_back(root);
    enter(root);
    take_all();
  }
}

// Depth first, without recursion: chains may be long.
void SpanningTree::number(const Grown& grown, int body, int link) {
  struct Open {
    int body, link;
    std::size_t next;
  };
  std::vector<Open> open{{body, link, 0}};
  while (!open.empty()) {
    Open& top = open.back();
    const std::vector<int>& children = grown.children[top.body + 1];
    if (top.next == children.size()) {
      open.pop_back();
      continue;
    }
    const int child = children[top.next++];
    const int own = grown.by[child] >= 0 ? add_branch(grown.by[child], top.link, child) : add_free(child);
    link_of_[child] = own;
    open.push_back({child, own, 0});
  }
}

int SpanningTree::add_branch(int constraint, int parent_link, int body) {
  const Equations::ConstraintInfo info = equations_.constraint_info(constraint);
  const std::vector<int>& frames = equations_.constraint_frames(constraint);
  const int own = equations_.body_frame(frames[1]).body == body ? 1 : 0;
  const BodyFrame &on_parent = equations_.body_frame(frames[1 - own]), &on_body = equations_.body_frame(frames[own]);
  Link link;
  link.parent = parent_link;
  link.kind = *kind_of_branch(info.item->type);
  const bool universal = link.kind == Kind::universal;
  Place place;
  place.body = body;
  place.from_axes = universal ? Mat3(on_parent.R * z_as_x) : on_parent.R;
  place.from_arm = on_parent.arm;
  place.frame = universal ? Mat3(on_body.R * z_as_y) : on_body.R;
  place.arm = on_body.arm;
  places_.push_back(place);
  const int at = tree_.add(link);
  branches_.push_back({constraint, at, own});
  return at;
}

// Its own point is the centre of mass. Bodies without all six motions slide along the axes of the world, massless links
// between them; planar ones then turn.
int SpanningTree::add_free(int body) {
  const BodyElement& element = equations_.body(body);
  if (moves_in_space(element)) {
    Link link;
    link.kind = Kind::free;
    Place place;
    place.body = body;
    places_.push_back(place);
    return tree_.add(link);
  }
  const RigidColumns& columns = *element.rigid();
  std::array<double, 7> q{}, v{};
  element.start(equations_.model().bodies[body], q.data(), v.data());
  BodyState motion;
  element.motion(q.data(), v.data(), motion, nullptr);
  int parent = 0;
  for (int k = 0; k < columns.count; ++k) {
    const int column = columns.column[k];
    const bool last = k == columns.count - 1;
    Mat3 axes = Mat3::Identity();  // z along the axis
    for (int i = 0; i < 3; ++i) axes.col(i) = Vec3::Unit((column + 1 + i) % 3);
    Link link;
    link.parent = parent;
    link.kind = column < 3 ? Kind::prismatic : Kind::revolute;
    Place place;
    place.body = last ? body : massless;
    place.from_axes = place.frame = axes;
    // the plane's height, or whatever else the body does not move along
    if (k == 0) {
      place.from_arm = motion.r;
      for (int i = 0; i < columns.count; ++i)
        if (columns.column[i] < 3) place.from_arm[columns.column[i]] = 0;
    }
    places_.push_back(place);
    parent = tree_.add(link);
  }
  return parent;
}

int SpanningTree::body_moved_by(int link) const {
  while (places_[link].body == massless) ++link;
  return places_[link].body;
}

void SpanningTree::place(const BodyMotions& motions) {
  for (int i = 1; i < tree_.size(); ++i) {
    Place& p = places_[i];
    const Link& link = tree_.links[i];
    p.axes = p.frame;
    if (p.body == massless || places_[link.parent].body == massless) continue;
    const Mat3 R_parent =
        places_[link.parent].body == ground ? Mat3(Mat3::Identity()) : motions.bodies[places_[link.parent].body].R;
    p.axes =
        p.frame *
        nearest_fit(link.kind, (R_parent * p.from_axes).transpose() * motions.bodies[p.body].R * p.frame).transpose();
  }
  set_constants();
}

void SpanningTree::set_constants() {
  const auto square = [](const Mat3& m) {
    return recursion::Square<double>{{m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), m(2, 0), m(2, 1), m(2, 2)}};
  };
  for (int i = 1; i < tree_.size(); ++i) {
    Link& link = tree_.links[i];
    const Place &p = places_[i], &parent = places_[link.parent];
    link.E = square(parent.axes.transpose() * p.from_axes);
    link.r = to_triple(parent.axes.transpose() * (p.from_arm - parent.arm));
    if (p.body == massless) continue;
    const Inertia own = inertia_of(equations_.body(p.body));
    const Mat3 J = p.axes.transpose() * own.J * p.axes;
    recursion::Tree::set_inertia(link, own.mass, to_triple(-(p.axes.transpose() * p.arm)),
                                 {J(0, 0), J(0, 1), J(0, 2), J(1, 1), J(1, 2), J(2, 2)});
  }
}

// A massless link has made the part of its body's translation that lies along the axes up to its own.
void SpanningTree::motions_of_links(const BodyMotions& motions, std::vector<BodyState>& out) const {
  out.assign(places_.size(), {Mat3::Identity(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()});
  for (int i = 1; i < tree_.size(); ++i) {
    if (places_[i].body != massless) {
      out[i] = motions.bodies[places_[i].body];
      continue;
    }
    const BodyState& body = motions.bodies[body_moved_by(i)];
    const Vec3 axis = places_[i].axes.col(2);
    out[i].r = out[tree_.links[i].parent].r + places_[i].from_arm + axis * axis.dot(body.r);
    out[i].v = out[tree_.links[i].parent].v + axis * axis.dot(body.v);
  }
}

void SpanningTree::coordinates(const BodyMotions& motions, Vec& q_all, Vec& u_all) const {
  std::vector<BodyState> states;
  motions_of_links(motions, states);
  q_all.setZero(tree_.nq);
  u_all.setZero(tree_.nu);
  for (int i = 1; i < tree_.size(); ++i) {
    const Link& link = tree_.links[i];
    const Place& place = places_[i];
    const BodyState &s = states[i], &p = states[link.parent];
    const Mat3 P = p.R * place.from_axes, R = s.R * place.axes, X = P.transpose() * R;
    const Vec3 o = s.r + s.R * place.arm, from = p.r + p.R * place.from_arm;
    const Vec3 d = P.transpose() * (o - from), w = s.w - p.w, v = s.v + s.w.cross(o - s.r) - p.v - p.w.cross(o - p.r);
    double *q = q_all.data() + link.q, *u = u_all.data() + link.u;
    const auto put_rotation = [&X](double* out) {
      const Quat e(X);
      out[0] = e.w(), out[1] = e.x(), out[2] = e.y(), out[3] = e.z();
    };
    switch (link.kind) {
      case Kind::fixed: break;
      case Kind::revolute:
        q[0] = std::atan2(X(1, 0) - X(0, 1), X(0, 0) + X(1, 1));
        u[0] = R.col(2).dot(w);
        break;
      case Kind::prismatic:
        q[0] = d.z();
        u[0] = P.col(2).dot(v);
        break;
      case Kind::cylindrical:
        q[0] = std::atan2(X(1, 0) - X(0, 1), X(0, 0) + X(1, 1));
        q[1] = d.z();
        u[0] = R.col(2).dot(w);
        u[1] = P.col(2).dot(v);
        break;
      case Kind::universal:  // X = X(q0) Y(q1)
        q[0] = std::atan2(X(2, 1), X(1, 1));
        q[1] = std::atan2(X(0, 2), X(0, 0));
        u[0] = P.col(0).dot(w);
        u[1] = R.col(1).dot(w);
        break;
      case Kind::spherical:
        put_rotation(q);
        Eigen::Map<Vec3>{u} = R.transpose() * w;
        break;
      case Kind::free:
        Eigen::Map<Vec3>{q} = d;
        put_rotation(q + 3);
        Eigen::Map<Vec3>{u} = v;
        Eigen::Map<Vec3>(u + 3) = R.transpose() * w;
        break;
    }
  }
}

void SpanningTree::visit(Archive& archive) {
  // which body hangs on which, and by which joint: coordinates of another tree would be taken for its own
  std::vector<int> own{static_cast<int>(cut_.size())};
  own.insert(own.end(), cut_.begin(), cut_.end());
  for (int i = 1; i < tree_.size(); ++i) {
    own.push_back(tree_.links[i].parent);
    own.push_back(places_[i].body);
  }
  std::vector<int> saved = own;
  archive(saved);
  archive.expect(saved == own);
  for (Place& place : places_) archive(place.axes);
  if (archive.reading()) set_constants();
}

}  // namespace trammel
