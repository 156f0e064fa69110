// An option of the command line that takes one of a few words; the help lists them.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace trammel {

template <class Enum>
CLI::Option* add_choice(CLI::App& verb, const std::string& name, Enum& value, const std::string& text,
                        const std::vector<std::pair<std::string, Enum>>& choices) {
  std::vector<std::string> words;
  std::string standard;
  for (const auto& [word, meaning] : choices) {
    words.push_back(word);
    if (meaning == value) standard = word;
  }
  const auto take = [&value, choices](const std::string& given) {
    for (const auto& [word, meaning] : choices) {
      if (word == given) value = meaning;
    }
  };
  return verb.add_option_function<std::string>(name, take, text)
      ->check(CLI::IsMember(words))
      ->type_name("WORD")
      ->default_str(standard);
}

}  // namespace trammel
