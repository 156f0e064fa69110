// A browser without a window that opens one page and answers expressions: Chromium over two pipes, in the protocol of
// its developer tools. Nothing listens on a port.
#pragma once
#include <sys/types.h>

#include <string>

#include "app/view_format.h"

namespace trammel {

class Browser {
 public:
  // `page` is its text. Throws Failure where no Chromium is found or the page cannot be shown.
  Browser(const std::string& page, int width, int height);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // The value of an expression in the page; of a promise, what it comes to.
  Json evaluate(const std::string& expression);

 private:
  void start();
  void show(const std::string& page, int width, int height);
  void end();
  Json call(const std::string& method, const Json& parameters);
  std::string next_message();

  std::string profile_;  // a folder of its own
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  int calls_ = 0;
  std::string session_, unread_;
};

}  // namespace trammel
