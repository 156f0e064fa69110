// Participants elsewhere that end, stall or send nonsense: the run ends soon, with their name and the reason.
#include "trammel/couple/remote_participant.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "trammel/base/diagnosis.h"

namespace trammel::remote_participant_test {
namespace {

std::string said(const std::function<void()>& act) {
  try {
    act();
  } catch (const Failure& failure) {
    return failure.problems()[0].message;
  }
  return "";
}

TEST(ProcessChannel, EndsSoonWithWhatHappened) {
  const auto talk = [](const std::string& script, double patience, const std::string& line) {
    return said([&] {
      const auto channel = start_process({"sh", "-c", script}, "rod", patience);
      channel->send(line);
      channel->receive();
    });
  };
  EXPECT_NE(talk("read x; exit 3", 30, "{}").find("ended with exit code 3"), std::string::npos);
  EXPECT_NE(talk("read x; kill -9 $$", 30, "{}").find("ended by signal 9"), std::string::npos);
  EXPECT_NE(talk("exec sleep 100", 0.2, "{}").find("does not answer"), std::string::npos);
  // More than a pipe holds, to a program that reads nothing.
  EXPECT_NE(talk("exec sleep 100", 0.2, std::string(1000000, ' ')).find("does not take"), std::string::npos);
  EXPECT_NE(said([] { start_process({"/no/such/program"}, "rod", 30)->receive(); }).find("exit code 127"),
            std::string::npos);
}

// Answers prepared before; then it is lost.
class Scripted final : public Channel {
 public:
  explicit Scripted(std::deque<std::string> answers) : answers_(std::move(answers)) {}
  void send(const std::string&) override { ++sent; }
  std::string receive() override {
    if (answers_.empty()) throw Failure({Severity::error, "participant-lost", "lost", "", {}}, ExitCode::failed_run);
    std::string next = answers_.front();
    answers_.pop_front();
    return next;
  }
  static int sent;

 private:
  std::deque<std::string> answers_;
};
int Scripted::sent = 0;

const char* const good_hello = R"({"rolls_back": true, "has_compliance": true, "has_sensitivity": true})";
const char* const still = "[0,0,0, 1,0,0,0,1,0,0,0,1, 0,0,0, 0,0,0]";

std::string answer_to(std::deque<std::string> answers, const std::function<void(RemoteParticipant&)>& act) {
  return said([&] {
    RemoteParticipant rod(std::make_unique<Scripted>(std::move(answers)), "rod", {"top"}, InputShape::linear, 1);
    act(rod);
  });
}

TEST(RemoteParticipant, SaysWhatIsWrongWithAnAnswer) {
  const auto nothing = [](RemoteParticipant&) {};
  const auto start = [](RemoteParticipant& p) { p.start(); };
  const auto make_step = [](RemoteParticipant& p) {
    MacroStep step;
    step.end = 1;
    step.inputs.assign(12, 0);
    step.samples = {0.5, 1};
    MacroResult result;
    p.begin(step);
    p.finish(result);
  };
  struct Case {
    std::deque<std::string> answers;
    std::function<void(RemoteParticipant&)> act;
    const char* reason;
  };
  const std::string frame(still);
  const Case cases[] = {
      {{"hello"}, nothing, "parse error"},
      {{"[1, 2]"}, nothing, "no object"},
      {{R"({"rolls_back": 1})"}, nothing, "must be boolean"},
      {{R"({"error": 5})"}, nothing, "rod': 5"},
      {{good_hello, R"({"frames": [1, 2]})"}, start, "2 numbers in `frames`"},
      {{good_hello, R"({"frames": [0,0,0, 2,0,0,0,1,0,0,0,1, 0,0,0, 0,0,0]})"}, start, "no rotation matrix"},
      {{good_hello, "{\"ok\": true, \"frames\": " + frame + ", \"step_times\": []}"}, make_step, "each of 2"},
      {{good_hello, R"({"ok": true, "frames": [null], "step_times": []})"}, make_step, "must be number"},
      {{good_hello, R"({"rows": 3, "columns": 3, "values": [0,0,0,0,0,0,0,0,0]})"},
       [](RemoteParticipant& p) { p.compliance(); },
       "6 rows and 6 columns"},
  };
  for (const Case& c : cases) {
    const std::string text = answer_to(c.answers, c.act);
    EXPECT_NE(text.find("rod"), std::string::npos) << text;
    EXPECT_NE(text.find(c.reason), std::string::npos) << text << " is not about " << c.reason;
  }
  // Who was lost is not asked to close.
  answer_to({good_hello}, [&](RemoteParticipant& p) {
    EXPECT_EQ(said([&] { p.start(); }), "lost");
    const int before = Scripted::sent;
    p.close(false);
    EXPECT_EQ(Scripted::sent, before);
  });
}

}  // namespace
}  // namespace trammel::remote_participant_test
