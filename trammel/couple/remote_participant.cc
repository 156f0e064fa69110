#include "trammel/couple/remote_participant.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "trammel/base/diagnosis.h"

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

std::vector<FrameState> frames_of(const Message& numbers) {
  const auto x = numbers.get<std::vector<double>>();
  std::vector<FrameState> out(x.size() / 18);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double* at = x.data() + 18 * i;
    out[i].p = Eigen::Map<const Vec3>(at);
    out[i].R = Eigen::Map<const Mat3>(at + 3);
    out[i].v = Eigen::Map<const Vec3>(at + 12);
    out[i].w = Eigen::Map<const Vec3>(at + 15);
  }
  return out;
}

Message flat(const Mat& m) {
  return {{"rows", m.rows()}, {"columns", m.cols()}, {"values", std::vector<double>(m.data(), m.data() + m.size())}};
}

Mat matrix_of(const Message& message) {
  const auto values = message.at("values").get<std::vector<double>>();
  const auto rows = message.at("rows").get<Eigen::Index>(), columns = message.at("columns").get<Eigen::Index>();
  if (rows * columns != static_cast<Eigen::Index>(values.size()))
    throw std::out_of_range("rows times columns is not the number of values");
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

Message read_answer(Channel& channel, const std::string& name) {
  const std::string line = channel.receive();
  Message answer;
  try {
    answer = Message::parse(line);
  } catch (const Message::exception& e) {
    bad_answer(name, e.what());
  }
  if (answer.contains("error")) {
    throw Failure({Severity::error,
                   "participant-failed",
                   "participant '" + name + "': " + answer["error"].get<std::string>(),
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
    bad_answer(name, e.what());
  }
}

}  // namespace

RemoteParticipant::RemoteParticipant(std::unique_ptr<Channel> channel, std::string name,
                                     std::vector<std::string> frames, InputShape shape, double end)
    : channel_(std::move(channel)) {
  info_.name = std::move(name);
  info_.frames = std::move(frames);
  channel_->send(Message{
      {"do", "hello"},
      {"protocol", 1},
      {"name", info_.name},
      {"frames", info_.frames},
      {"shape", trammel::info(shape).key},
      {"end", end}}.dump());
  const Message answer = read_answer(*channel_, info_.name);
  checked(info_.name, [&] {
    info_.rolls_back = answer.at("rolls_back").get<bool>();
    info_.has_compliance = answer.at("has_compliance").get<bool>();
    info_.has_sensitivity = answer.at("has_sensitivity").get<bool>();
    return true;
  });
}

RemoteParticipant::~RemoteParticipant() = default;

std::vector<FrameState> RemoteParticipant::start() {
  channel_->send(R"({"do": "start"})");
  const Message answer = read_answer(*channel_, info_.name);
  std::vector<FrameState> frames = checked(info_.name, [&] { return frames_of(answer.at("frames")); });
  if (frames.size() != info_.frames.size()) bad_answer(info_.name, "18 numbers for each frame are expected");
  return frames;
}

void RemoteParticipant::begin(const MacroStep& step) {
  channel_->send(Message{{"do", "try"},
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
  const Message answer = read_answer(*channel_, info_.name);
  checked(info_.name, [&] {
    result.ok = answer.at("ok").get<bool>();
    result.message = answer.value("message", std::string());
    if (!result.ok) return true;
    result.frames = frames_of(answer.at("frames"));
    result.step_times = answer.at("step_times").get<std::vector<double>>();
    return true;
  });
}

void RemoteParticipant::accept() {
  channel_->send(R"({"do": "accept"})");
  read_answer(*channel_, info_.name);
}

Mat RemoteParticipant::compliance() {
  channel_->send(R"({"do": "compliance"})");
  const Message answer = read_answer(*channel_, info_.name);
  return checked(info_.name, [&] { return matrix_of(answer); });
}

Mat RemoteParticipant::sensitivity(std::span<const int> samples) {
  channel_->send(Message{{"do", "sensitivity"}, {"samples", std::vector<int>(samples.begin(), samples.end())}}.dump());
  const Message answer = read_answer(*channel_, info_.name);
  return checked(info_.name, [&] { return matrix_of(answer); });
}

Bytes RemoteParticipant::save() {
  channel_->send(R"({"do": "save"})");
  const Message answer = read_answer(*channel_, info_.name);
  return checked(info_.name, [&] { return from_hex(answer.at("state").get<std::string>()); });
}

void RemoteParticipant::restore(std::span<const std::byte> bytes) {
  channel_->send(Message{{"do", "restore"}, {"state", to_hex(Bytes(bytes.begin(), bytes.end()))}}.dump());
  read_answer(*channel_, info_.name);
}

void RemoteParticipant::close(bool good) {
  channel_->send(Message{{"do", "close"}, {"good", good}}.dump());
  read_answer(*channel_, info_.name);
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
    answer = {{"error", e.what()}};
  }
  reply = answer.dump();
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
