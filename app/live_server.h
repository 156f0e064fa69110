// Serves one page and a stream of messages to the browsers of this machine, from a thread of its own. Whoever gives the
// messages is asked for them and never waits: a page that reads slowly misses frames.
//
// Security: the loopback address only, a token of 128 random bits, the Host and Origin of this server and no other,
// GET of two paths, no file of the disk; messages of pages up to 64 kB.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace trammel {

class LiveServer {
 public:
  using Message = std::shared_ptr<const std::string>;

  // Asked 60 times a second while a page is open, from the thread of the server.
  struct Source {
    // Each number rises when there is something new of its kind.
    struct Versions {
      unsigned header = 0, status = 0, frame = 0;
    };
    std::function<Versions()> versions;
    std::function<Message()> header;  // binary: what a page needs first; null: there is nothing to show
    std::function<Message()> status;  // text
    std::function<Message()> frame;   // binary: the newest row
    std::function<void(std::string_view)> receive;
  };

  // Throws Failure if there is no port to listen on. `page` makes the page from its own host, "127.0.0.1:4711".
  LiveServer(const std::function<std::string(const std::string& host)>& page, Source source);
  ~LiveServer();  // tells the pages, closes everything
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  const std::string& address() const { return address_; }  // with the token

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
  std::string address_;
};

// Whether two texts are equal, in a time that tells nothing of where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);
// The value of a field of "/path?a=1&b=2"; empty: it is not there.
std::string_view query_field(std::string_view target, std::string_view name);

}  // namespace trammel
