// A participant in another process, and the other end of its line.
#pragma once
#include "trammel/couple/channel.h"
#include "trammel/couple/participant.h"

namespace trammel {

class RemoteParticipant final : public Participant {
 public:
  // Says who is asked for what; throws Failure if the answer does not fit.
  RemoteParticipant(std::unique_ptr<Channel> channel, std::string name, std::vector<std::string> frames,
                    InputShape shape, double end);
  ~RemoteParticipant() override;

  const ParticipantInfo& info() const override { return info_; }
  std::vector<FrameState> start() override;
  void begin(const MacroStep& step) override;
  void finish(MacroResult& result) override;
  void accept() override;
  Mat compliance() override;
  Mat sensitivity(std::span<const int> samples) override;
  Bytes save() override;
  void restore(std::span<const std::byte> bytes) override;
  void close(bool good) override;

 private:
  void send(const std::string& line);
  // `begin` has sent its request already.
  std::string receive();

  std::unique_ptr<Channel> channel_;
  ParticipantInfo info_;
  std::size_t shape_count_ = 1, samples_ = 0;  // of the last try
  bool lost_ = false;
};

// Makes the participant that a greeting asks for.
struct Greeting {
  std::string name;
  std::vector<std::string> frames;
  InputShape shape = InputShape::constant;
  double end = 0;
};
using MakeServed = std::function<std::unique_ptr<Participant>(const Greeting&)>;

// Answers requests. `answer` handles one; it is false after the last one.
class ParticipantServer {
 public:
  explicit ParticipantServer(MakeServed make) : make_(std::move(make)) {}
  bool answer(const std::string& request, std::string& reply);

 private:
  MakeServed make_;
  std::unique_ptr<Participant> participant_;
};
// Until the line closes.
void serve(Channel& channel, MakeServed make);

}  // namespace trammel
