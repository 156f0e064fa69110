// The program of docs/guide/own-equations.md is the file beside it, and it runs.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#define main own_equations_main
#include "docs/guide/own_equations.cc"
#undef main

namespace {

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(TRAMMEL_SOURCE_DIR) + "/docs/guide/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OwnEquations, TheProgramOfTheGuideRuns) {
  const std::string program = text_of("own_equations.cc"), page = text_of("own-equations.md");
  EXPECT_NE(page.find("```cpp\n" + program + "```"), std::string::npos) << "the page differs from own_equations.cc";
  testing::internal::CaptureStdout();
  EXPECT_EQ(own_equations_main(), 0);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_NE(page.find("```text\n" + printed + "```"), std::string::npos) << printed;
}

}  // namespace
