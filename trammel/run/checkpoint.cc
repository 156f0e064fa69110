#include "trammel/run/checkpoint.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "trammel/base/input_file.h"
#include "trammel/base/printable.h"
#include "trammel/write/output_path.h"
#include "trammel/write/sha256.h"

namespace trammel {
namespace {

constexpr std::string_view checkpoint_head = "trammel-checkpoint 1\n";
constexpr std::size_t hash_digits = 64;

nlohmann::json optional_json(const std::optional<double>& value) { return value ? nlohmann::json(*value) : nullptr; }

void take_optional(const nlohmann::json& j, const char* key, std::optional<double>& out) {
  if (!j.at(key).is_null()) out = j.at(key).get<double>();
}

std::string description_of(const Checkpoint& c) {
  const ModelChanges& m = c.changes;
  const nlohmann::json j = {{"version", c.version},
                            {"model_file", c.model_file},
                            {"fingerprint", c.fingerprint},
                            {"result", c.result},
                            {"csv", c.csv},
                            {"t", c.t},
                            {"end", c.end},
                            {"set", m.set},
                            {"method", m.method ? nlohmann::json(*m.method) : nullptr},
                            {"formulation", m.formulation ? nlohmann::json(*m.formulation) : nullptr},
                            {"tolerance", optional_json(m.tolerance)},
                            {"step", optional_json(m.step)},
                            {"output_step", optional_json(m.output_step)},
                            {"greatest_step", optional_json(m.greatest_step)},
                            {"options", m.options},
                            {"checkpoint", c.checkpoint},
                            {"checkpoint_every", c.checkpoint_every}};
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void take_description(const std::string& text, Checkpoint& c) {
  const nlohmann::json j = nlohmann::json::parse(text);
  c.version = j.at("version");
  c.model_file = j.at("model_file");
  c.fingerprint = j.at("fingerprint");
  c.result = j.at("result");
  c.csv = j.at("csv");
  c.t = j.at("t");
  c.end = j.at("end");
  c.changes.set = j.at("set").get<std::vector<std::string>>();
  if (!j.at("method").is_null()) c.changes.method = j.at("method").get<std::string>();
  if (!j.at("formulation").is_null()) c.changes.formulation = j.at("formulation").get<std::string>();
  take_optional(j, "tolerance", c.changes.tolerance);
  take_optional(j, "step", c.changes.step);
  take_optional(j, "output_step", c.changes.output_step);
  take_optional(j, "greatest_step", c.changes.greatest_step);
  c.changes.options = j.at("options").get<std::vector<std::string>>();
  c.changes.end = c.end;
  c.checkpoint = j.at("checkpoint");
  c.checkpoint_every = j.at("checkpoint_every");
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const std::string description = description_of(checkpoint);
  std::string whole(checkpoint_head);
  whole += std::to_string(description.size()) + "\n" + description + "\n";
  whole.append(reinterpret_cast<const char*>(checkpoint.state.data()), checkpoint.state.size());
  whole += sha256_hex(whole);

  refuse_other_kinds(path, OutputKind::checkpoint);
  const std::string place = PendingFile::resolve(path), temporary = place + "." + std::to_string(getpid()) + ".new";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  // On the disk before it takes the place of the earlier one.
  bool fine = fd >= 0 && write_all(fd, whole) && fsync(fd) == 0;
  const int why = errno;
  if (fd >= 0) fine = ::close(fd) == 0 && fine;
  errno = fine ? 0 : why;
  fine = fine && rename(temporary.c_str(), place.c_str()) == 0;
  if (fine) return;
  const std::string reason = std::strerror(errno);
  unlink(temporary.c_str());
  throw write_failure("cannot-write", "the checkpoint '" + path + "' cannot be written: " + reason,
                      "choose a file in a folder that exists and may be written to");
}

Checkpoint read_checkpoint(const std::string& path) {
  const std::string whole = [&] {
    try {
      return read_whole_file(path, std::uint64_t{1} << 32, ExitCode::bad_usage);
    } catch (const Failure& failure) {
      const Problem& problem = failure.problems().front();
      throw read_failure(problem.id, "the checkpoint '" + path + "' cannot be read: " + problem.message,
                         "give the file that `trammel run --checkpoint FILE` wrote");
    }
  }();
  const auto refuse = [&](const std::string& why) {
    return read_failure("bad-checkpoint", "'" + path + "' is no usable checkpoint: " + why,
                        "take an earlier one, or run the model again");
  };
  if (whole.compare(0, checkpoint_head.size(), checkpoint_head) != 0) {
    const bool other = whole.starts_with(checkpoint_magic);
    if (other) throw refuse("its format is that of another version of the program");
    throw refuse("it does not begin like one");
  }
  if (whole.size() < checkpoint_head.size() + hash_digits) throw refuse("it is cut off");
  const std::string body = whole.substr(0, whole.size() - hash_digits);
  if (sha256_hex(body) != whole.substr(whole.size() - hash_digits)) throw refuse("it is damaged or cut off");
  Checkpoint checkpoint;
  try {
    const std::size_t line = body.find('\n', checkpoint_head.size());
    const std::size_t length = std::stoul(body.substr(checkpoint_head.size(), line - checkpoint_head.size()));
    take_description(body.substr(line + 1, length), checkpoint);
    const std::size_t state = line + 1 + length + 1;
    checkpoint.state.resize(body.size() - state);
    std::memcpy(checkpoint.state.data(), body.data() + state, checkpoint.state.size());
  } catch (const std::exception& e) {
    throw refuse(plain_reason(e));
  }
  if (checkpoint.version != TRAMMEL_VERSION) {
    throw read_failure(
        "checkpoint-of-another-version",
        "the checkpoint '" + path + "' was written by trammel " + checkpoint.version + ", this is " + TRAMMEL_VERSION,
        "use that version to go on, or run the model again");
  }
  return checkpoint;
}

// ---- The model as text ----------------------------------------------------------------------------------------------

namespace {

class Digest {
 public:
  std::string text;

  void add(double x) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%a,", x);
    text += digits;
  }
  void add(bool x) { text += x ? "y," : "n,"; }
  void add(int x) { text += std::to_string(x) + ","; }
  void add(const std::string& x) { text += std::to_string(x.size()) + ":" + x + ","; }
  template <class Derived>
  void add(const Eigen::DenseBase<Derived>& x) {
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      for (Eigen::Index i = 0; i < x.rows(); ++i) add(static_cast<double>(x.derived().coeff(i, j)));
    }
  }
  void add(const Pose& pose) {
    add(pose.position);
    add(pose.rotation.coeffs());
  }
  void add(const std::optional<double>& x) {
    add(x.has_value());
    if (x) add(*x);
  }
  void add(const Value& value) {
    add(static_cast<int>(value.index()));
    if (const auto* x = std::get_if<double>(&value)) add(*x);
    if (const auto* x = std::get_if<bool>(&value)) add(*x);
    if (const auto* x = std::get_if<std::string>(&value)) add(*x);
    if (const auto* x = std::get_if<Vec3>(&value)) add(*x);
    if (const auto* x = std::get_if<Mat6>(&value)) add(*x);
    if (const auto* x = std::get_if<ExpressionText>(&value)) add(x->text);
    if (const auto* x = std::get_if<std::vector<double>>(&value)) {
      for (const double y : *x) add(y);
    }
    if (const auto* x = std::get_if<std::vector<std::string>>(&value)) {
      for (const std::string& y : *x) add(y);
    }
  }
  void add_numbers(const std::vector<double>& values) {
    add(static_cast<int>(values.size()));
    for (const double value : values) add(value);
  }
  void add(const Fields& fields) {
    for (const auto& entry : fields.all()) {
      add(entry.first);
      add(entry.second);
    }
  }
};

void add_modes(Digest& d, const ModalData& b) {
  d.add(b.modes());
  d.add(b.first_moment);
  for (const ModeShapes* shapes : {&b.S0, &b.S1}) d.add(*shapes);
  for (const Mat* matrix : {&b.modal_mass, &b.stiffness, &b.damping}) d.add(*matrix);
  for (const Mat& matrix : b.gyration) d.add(matrix);
  for (const Mat& matrix : b.inertia_curvature) d.add(matrix);
  for (const Eigen::RowVectorXd& row : b.inertia_rate) d.add(row);
  for (const ModalNode& node : b.nodes) {
    d.add(node.name);
    d.add(node.position);
    d.add(node.translation);
    d.add(node.rotation);
  }
  d.add(b.stress_resultants);
  d.add(b.hot_spots);
}

void add_bodies(Digest& d, const Model& model) {
  for (const Body& b : model.bodies) {
    d.add(b.name);
    d.add(b.kind);
    d.add(static_cast<int>(b.quantity));
    d.add(b.mass);
    d.add(b.center_of_mass);
    d.add(b.inertia);
    if (b.modal) add_modes(d, *b.modal);
    d.add(b.pose);
    if (b.drawn) d.add(*b.drawn);
    d.add(b.velocity);
    d.add(b.angular_velocity);
    for (const Kept& kept : {b.keep_position, b.keep_orientation, b.keep_velocity, b.keep_angular_velocity}) {
      for (int i = 0; i < 3; ++i) d.add(kept[i]);
    }
  }
}

void add_variables(Digest& d, const Model& model) {
  for (const StateVariable& x : model.states) {
    d.add(x.name);
    d.add(x.rate.text);
    d.add(x.value);
  }
  for (const Variable& variable : model.variables) {
    d.add(variable.name);
    d.add(variable.expression.text);
  }
  for (const Input& input : model.inputs) {
    d.add(input.name);
    d.add(input.value);
  }
}

void add_curves(Digest& d, const Model& model) {
  for (const NamedSpline& s : model.splines) {
    const SplineData& data = s.spline->data();
    d.add(s.name);
    d.add(static_cast<int>(data.kind));
    d.add(static_cast<int>(data.extrapolation));
    d.add_numbers(data.x);
    d.add_numbers(data.y);
    d.add(data.first_slope);
    d.add(data.last_slope);
  }
  for (const NamedTable& t : model.tables) {
    const SurfaceData& data = t.table->data();
    d.add(t.name);
    d.add(static_cast<int>(data.kind));
    d.add(static_cast<int>(data.extrapolation));
    d.add_numbers(data.x);
    d.add_numbers(data.y);
    d.add_numbers(data.z);
  }
}

void add_items(Digest& d, const Model& model) {
  for (const std::vector<Item>* items : {&model.joints, &model.motions, &model.forces}) {
    d.text += ";";
    for (const Item& item : *items) {
      d.add(item.type);
      d.add(item.name);
      for (const int frame : item.frames) d.add(frame);
      d.add(item.fields);
      if (item.implicit) d.text += "B";
    }
  }
}

void add_settings(Digest& d, const SimulationSettings& s) {
  d.add(s.end);
  d.add(s.method);
  d.add(s.formulation);
  for (const std::string& name : s.independent) d.add(name);
  for (const std::optional<double>* x :
       {&s.tolerance, &s.step, &s.first_step, &s.least_step, &s.greatest_step, &s.output_step, &s.length}) {
    d.add(*x);
  }
  d.add(s.locate_events);
  d.add(s.events_at_steps);
  d.add(s.time_scale);
  d.add(s.options);
}

}  // namespace

std::string model_digest(const Model& model) {
  Digest d;
  d.add(model.text);
  d.add(model.gravity);
  for (const Parameter& p : model.parameters) {
    d.add(p.name);
    d.add(p.value);
  }
  add_bodies(d, model);
  add_variables(d, model);
  add_curves(d, model);
  for (const Frame& f : model.frames) {
    d.add(f.body);
    d.add(f.local);
  }
  add_items(d, model);
  for (const InitialJoint& i : model.initial_joints) {
    d.add(i.joint);
    for (const std::optional<double>* x : {&i.angle, &i.displacement, &i.angular_speed, &i.speed}) d.add(*x);
  }
  d.add(model.start_in_equilibrium);
  for (const Output& o : model.outputs) {
    d.add(o.name);
    d.add(o.unit);
    d.add(o.expression.text);
  }
  add_settings(d, model.simulation);
  return d.text;
}

}  // namespace trammel
