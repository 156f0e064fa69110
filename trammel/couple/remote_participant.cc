#include "trammel/couple/remote_participant.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "trammel/base/diagnosis.h"
#include "trammel/base/printable.h"

namespace trammel {
namespace {

using Message = nlohmann::json;

Message flat(const std::vector<FrameState>& frames) {
  Message out = Message::array();
  for (const FrameState& f : frames) {
    for (const double x : f.p) out.push_back(x);
    for (const double x : f.R.reshaped()) out.push_back(x);
    for (const double x : f.v) out.push_back(x);
    for (const double x : f.w) out.push_back(x);
  }
  return out;
}

std::vector<FrameState> frames_of(const Message& numbers, std::size_t count) {
  const auto x = numbers.get<std::vector<double>>();
  if (x.size() != 18 * count)
    throw std::out_of_range(std::to_string(x.size()) + " numbers in `frames`, not 18 for each of " +
                            std::to_string(count));
  std::vector<FrameState> out(count);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double* at = x.data() + 18 * i;
    out[i].p = Eigen::Map<const Vec3>(at);
    out[i].R = Eigen::Map<const Mat3>(at + 3);
    out[i].v = Eigen::Map<const Vec3>(at + 12);
    out[i].w = Eigen::Map<const Vec3>(at + 15);
    if (!((out[i].R.transpose() * out[i].R - Mat3::Identity()).cwiseAbs().maxCoeff() < 1e-6))
      throw std::out_of_range("numbers 4 to 12 of a frame are no rotation matrix");
  }
  return out;
}

Message flat(const Mat& m) {
  return {{"rows", m.rows()}, {"columns", m.cols()}, {"values", std::vector<double>(m.data(), m.data() + m.size())}};
}

Mat matrix_of(const Message& message, std::size_t rows_expected, std::size_t columns_expected) {
  const auto values = message.at("values").get<std::vector<double>>();
  const auto rows = message.at("rows").get<Eigen::Index>(), columns = message.at("columns").get<Eigen::Index>();
  if (rows != static_cast<Eigen::Index>(rows_expected) || columns != static_cast<Eigen::Index>(columns_expected) ||
      values.size() != rows_expected * columns_expected)
    throw std::out_of_range("a matrix of " + std::to_string(rows_expected) + " rows and " +
                            std::to_string(columns_expected) + " columns is expected");
  return Eigen::Map<const Mat>(values.data(), rows, columns);
}

std::string to_hex(const Bytes& bytes) {
  static const char* const digits = "0123456789abcdef";
  std::string out;
  for (const std::byte b : bytes) {
    out += digits[std::to_integer<unsigned>(b) >> 4];
    out += digits[std::to_integer<unsigned>(b) & 15];
  }
  return out;
}

Bytes from_hex(const std::string& text) {
  const auto value = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  Bytes out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<std::byte>(16 * value(text[i]) + value(text[i + 1])));
  return out;
}

InputShape shape_of(const std::string& key) {
  for (const InputShape shape : all_input_shapes) {
    if (info(shape).key == key) return shape;
  }
  throw Failure({Severity::error, "bad-message", "there is no input shape '" + key + "'", "", {}},
                ExitCode::failed_run);
}

[[noreturn]] void bad_answer(const std::string& name, const std::string& why) {
  throw Failure({Severity::error,
                 "bad-message",
                 "participant '" + name + "' gives an answer that cannot be read: " + why,
                 "see the protocol in the guide to coupling",
                 {}},
                ExitCode::failed_run);
}

Message read_answer(const std::string& line, const std::string& name) {
  Message answer;
  try {
    answer = Message::parse(line);
  } catch (const Message::exception& e) {
    bad_answer(name, plain_reason(e));
  }
  if (!answer.is_object()) bad_answer(name, "it is no object {...}");
  if (answer.contains("error")) {
    const Message& text = answer["error"];
    throw Failure({Severity::error,
                   "participant-failed",
                   "participant '" + name + "': " + (text.is_string() ? text.get<std::string>() : text.dump()),
                   "",
                   {}},
                  ExitCode::failed_run);
  }
  return answer;
}

template <class Read>
auto checked(const std::string& name, Read&& read) {
  try {
    return read();
  } catch (const std::exception& e) {
    bad_answer(name, plain_reason(e));
  }
}

}  // namespace

RemoteParticipant::RemoteParticipant(std::unique_ptr<Channel> channel, std::string name,
                                     std::vector<std::string> frames, InputShape shape, double end)
    : channel_(std::move(channel)), shape_count_(static_cast<std::size_t>(trammel::info(shape).count)) {
  info_.name = std::move(name);
  info_.frames = std::move(frames);
  send(Message{{"do", "hello"},
               {"protocol", 1},
               {"name", info_.name},
               {"frames", info_.frames},
               {"shape", trammel::info(shape).key},
               {"end", end}}
           .dump());
  const Message answer = read_answer(receive(), info_.name);
  checked(info_.name, [&] {
    info_.rolls_back = answer.at("rolls_back").get<bool>();
    info_.has_compliance = answer.at("has_compliance").get<bool>();
    info_.has_sensitivity = answer.at("has_sensitivity").get<bool>();
    return true;
  });
}

RemoteParticipant::~RemoteParticipant() = default;

// Who was lost once is not waited for again.
void RemoteParticipant::send(const std::string& line) {
  lost_ = true;
  channel_->send(line);
  lost_ = false;
}

std::string RemoteParticipant::receive() {
  lost_ = true;
  std::string line = channel_->receive();
  lost_ = false;
  return line;
}

std::vector<FrameState> RemoteParticipant::start() {
  send(R"({"do": "start"})");
  const Message answer = read_answer(receive(), info_.name);
  return checked(info_.name, [&] { return frames_of(answer.at("frames"), info_.frames.size()); });
}

void RemoteParticipant::begin(const MacroStep& step) {
  samples_ = step.samples.size();
  send(Message{{"do", "try"},
               {"t", step.t},
               {"end", step.end},
               {"restart_at_jumps", step.restart_at_jumps},
               {"inputs", step.inputs},
               {"samples", step.samples},
               {"record", step.record},
               {"keep_path", step.keep_path}}
           .dump());
}

void RemoteParticipant::finish(MacroResult& result) {
  const Message answer = read_answer(receive(), info_.name);
  checked(info_.name, [&] {
    result.ok = answer.at("ok").get<bool>();
    result.message = answer.value("message", std::string());
    if (!result.ok) return true;
    result.frames = frames_of(answer.at("frames"), samples_ * info_.frames.size());
    result.step_times = answer.at("step_times").get<std::vector<double>>();
    return true;
  });
}

void RemoteParticipant::accept() {
  send(R"({"do": "accept"})");
  read_answer(receive(), info_.name);
}

Mat RemoteParticipant::compliance() {
  send(R"({"do": "compliance"})");
  const Message answer = read_answer(receive(), info_.name);
  const std::size_t size = 6 * info_.frames.size();
  return checked(info_.name, [&] { return matrix_of(answer, size, size); });
}

Mat RemoteParticipant::sensitivity(std::span<const int> samples) {
  send(Message{{"do", "sensitivity"}, {"samples", std::vector<int>(samples.begin(), samples.end())}}.dump());
  const Message answer = read_answer(receive(), info_.name);
  const std::size_t rows = 12 * info_.frames.size() * samples.size(), columns = 6 * info_.frames.size() * shape_count_;
  return checked(info_.name, [&] { return matrix_of(answer, rows, columns); });
}

Bytes RemoteParticipant::save() {
  send(R"({"do": "save"})");
  const Message answer = read_answer(receive(), info_.name);
  return checked(info_.name, [&] { return from_hex(answer.at("state").get<std::string>()); });
}

void RemoteParticipant::restore(std::span<const std::byte> bytes) {
  send(Message{{"do", "restore"}, {"state", to_hex(Bytes(bytes.begin(), bytes.end()))}}.dump());
  read_answer(receive(), info_.name);
}

void RemoteParticipant::close(bool good) {
  if (lost_) return;
  send(Message{{"do", "close"}, {"good", good}}.dump());
  read_answer(receive(), info_.name);
}

// ---- the other end
// ---------------------------------------------------------------------------------------------------

bool ParticipantServer::answer(const std::string& request, std::string& reply) {
  Message answer = Message::object();
  bool more = true;
  try {
    const Message m = Message::parse(request);
    const std::string what = m.at("do");
    if (what == "hello") {
      participant_ =
          make_({m.at("name"), m.at("frames").get<std::vector<std::string>>(), shape_of(m.at("shape")), m.at("end")});
      const ParticipantInfo& info = participant_->info();
      answer = {{"rolls_back", info.rolls_back},
                {"has_compliance", info.has_compliance},
                {"has_sensitivity", info.has_sensitivity}};
    } else if (!participant_) {
      answer = {{"error", "the first request must be hello"}};
    } else if (what == "start") {
      answer = {{"frames", flat(participant_->start())}};
    } else if (what == "try") {
      MacroStep step;
      step.t = m.at("t");
      step.end = m.at("end");
      step.restart_at_jumps = m.at("restart_at_jumps");
      step.inputs = m.at("inputs").get<std::vector<double>>();
      step.samples = m.at("samples").get<std::vector<double>>();
      step.record = m.at("record").get<std::vector<char>>();
      step.keep_path = m.at("keep_path");
      participant_->begin(step);
      MacroResult result;
      participant_->finish(result);
      answer = {{"ok", result.ok}, {"message", result.message}};
      if (result.ok) {
        answer["frames"] = flat(result.frames);
        answer["step_times"] = result.step_times;
      }
    } else if (what == "accept") {
      participant_->accept();
    } else if (what == "compliance") {
      answer = flat(participant_->compliance());
    } else if (what == "sensitivity") {
      const auto samples = m.at("samples").get<std::vector<int>>();
      answer = flat(participant_->sensitivity(samples));
    } else if (what == "save") {
      answer = {{"state", to_hex(participant_->save())}};
    } else if (what == "restore") {
      participant_->restore(from_hex(m.at("state")));
    } else if (what == "close") {
      participant_->close(m.at("good"));
      more = false;
    } else {
      answer = {{"error", "there is no request '" + what + "'"}};
    }
  } catch (const Failure& failure) {
    answer = {{"error", failure.problems().front().message}};
  } catch (const std::exception& e) {
    answer = {{"error", plain_reason(e)}};
  }
  reply = answer.dump(-1, ' ', false, Message::error_handler_t::replace);
  return more;
}

void serve(Channel& channel, MakeServed make) {
  ParticipantServer server(std::move(make));
  for (bool more = true; more;) {
    std::string reply;
    more = server.answer(channel.receive(), reply);
    channel.send(reply);
  }
}

}  // namespace trammel
