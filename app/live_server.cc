#include "app/live_server.h"

#include <pthread.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <optional>
#include <set>
#include <thread>

#include "app/live_turns.h"
#include "trammel/base/diagnosis.h"

namespace trammel {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;

constexpr auto between_frames = std::chrono::microseconds(16667);
constexpr auto patience = std::chrono::seconds(10);  // for a request
constexpr auto farewell = std::chrono::milliseconds(300);
constexpr auto breath = std::chrono::milliseconds(100);  // after a connection that could not be taken
constexpr std::size_t most_pages = 4, most_connections = 16;
constexpr std::uint32_t largest_header = 8 << 10;
constexpr std::size_t largest_message = 64 << 10;

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Failure({Severity::error, "cannot-serve", "no random numbers for the token of the page", "", {}},
                  ExitCode::cannot_write);
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

std::string_view query_field(std::string_view target, std::string_view name) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {};
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view field = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), field.size() + 1));
    if (field.size() > name.size() && field.substr(0, name.size()) == name && field[name.size()] == '=')
      return field.substr(name.size() + 1);
  }
  return {};
}

class LiveServer::Engine {
 public:
  Engine(const std::function<std::string(const std::string&)>& page, Source source);
  ~Engine();
  std::string address() const { return "http://" + host_ + "/?token=" + token_; }

 private:
  class Connection;
  class Page;
  using Request = http::request<http::empty_body>;

  void run();
  void accept();
  void accept_later();
  void tick();
  void wake() {
    if (!ticking_) tick();
  }
  const Message& frame(unsigned version);
  std::optional<http::status> refusal(const Request& request) const;

  std::string token_ = random_token(), host_, page_;
  std::array<std::string, 2> hosts_;
  Source source_;
  std::set<Page*> pages_;  // before io_, whose end is theirs
  std::size_t connections_ = 0;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  asio::steady_timer timer_{io_}, breath_{io_};
  bool ticking_ = false, closing_ = false;
  Message frame_;  // that was made last, shared by all pages
  unsigned frame_version_ = 0;
  std::thread thread_;
};

// A page that listens. One message is on its way at most: what comes meanwhile is looked up when it has arrived, and
// then only the newest is left.
class LiveServer::Engine::Page : public std::enable_shared_from_this<Page> {
  using Kind = LiveTurns::Kind;

 public:
  Page(Engine& engine, tcp::socket socket) : engine_(engine), stream_(std::move(socket)) {
    engine_.pages_.insert(this);
  }
  ~Page() { engine_.pages_.erase(this); }

  void start(const Request& request) {
    // A tab that sleeps, or a machine with too much to do, reads nothing for minutes, not even pings: it is not let go
    // for that. Who has really gone has closed the connection, which ends on this machine.
    auto timeout = websocket::stream_base::timeout::suggested(beast::role_type::server);
    timeout.idle_timeout = websocket::stream_base::none();
    timeout.keep_alive_pings = false;
    stream_.set_option(timeout);
    stream_.read_message_max(largest_message);
    stream_.auto_fragment(false);
    // The request must live until it is answered.
    auto kept = std::make_shared<Request>(request);
    stream_.async_accept(*kept, [self = shared_from_this(), kept](beast::error_code failed) {
      if (failed) return;
      self->listen();
      self->engine_.wake();
    });
  }

  void tick() {
    turns_.tick();
    send();
  }

  void close() {
    if (!stream_.is_open()) return;
    stream_.async_close(websocket::close_code::going_away, [self = shared_from_this()](beast::error_code) {});
  }

 private:
  // What is new and whose turn it is, unless something is on its way.
  void send() {
    if (busy_ || !stream_.is_open()) return;
    const Source::Versions now = engine_.source_.versions();
    for (Kind kind = turns_.next(now); kind != Kind::nothing; kind = turns_.next(now)) {
      const Message message = made(kind, now);
      turns_.took(kind, now, message != nullptr);
      if (message) return put(message, kind != Kind::status);
    }
  }

  // Null where there is none, or no memory for it: pages go without.
  Message made(Kind kind, const Source::Versions& now) const {
    try {
      if (kind == Kind::header) return engine_.source_.header();
      return kind == Kind::status ? engine_.source_.status() : engine_.frame(now.frame);
    } catch (const std::exception&) {
      return {};
    }
  }

  void put(const Message& message, bool binary) {
    busy_ = true;
    stream_.binary(binary);
    const auto bytes = asio::buffer(*message);
    stream_.async_write(bytes, [self = shared_from_this(), message](beast::error_code failed, std::size_t) {
      self->busy_ = false;
      if (!failed) self->send();
    });
  }

  void listen() {
    stream_.async_read(buffer_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
      if (failed) return;  // gone
      if (self->stream_.got_text()) self->receive();
      self->buffer_.consume(self->buffer_.size());
      self->listen();
    });
  }

  // Whoever asks for more than there is memory for asks in vain.
  void receive() const {
    const auto data = buffer_.cdata();
    try {
      engine_.source_.receive({static_cast<const char*>(data.data()), data.size()});
    } catch (const std::exception&) {
    }
  }

  Engine& engine_;
  websocket::stream<beast::tcp_stream> stream_;
  beast::flat_buffer buffer_;
  bool busy_ = false;
  LiveTurns turns_;
};

// One request: answered, refused, or turned into a Page.
class LiveServer::Engine::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Engine& engine, tcp::socket socket) : engine_(engine), stream_(std::move(socket)) {
    ++engine_.connections_;
    parser_.header_limit(largest_header);
    parser_.body_limit(0);
  }
  ~Connection() { --engine_.connections_; }

  void start() {
    stream_.expires_after(patience);
    http::async_read(stream_, buffer_, parser_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
      if (!failed) self->answer();
    });
  }

 private:
  void answer() {
    const Request& request = parser_.get();
    if (const std::optional<http::status> why = engine_.refusal(request))
      return respond(*why, "Refused. Open the address that trammel printed.\n", "text/plain");
    const std::string_view target = view_of(request.target()), path = target.substr(0, target.find('?'));
    if (path == "/") return respond(http::status::ok, engine_.page_, "text/html; charset=utf-8");
    stream_.expires_never();
    std::make_shared<Page>(engine_, stream_.release_socket())->start(request);
  }

  void respond(http::status status, const std::string& text, const char* type) {
    response_.result(status);
    response_.set(http::field::content_type, type);
    response_.set("Content-Security-Policy", "frame-ancestors 'none'");  // the rest stands in the page
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("Cross-Origin-Resource-Policy", "same-origin");
    response_.set("Referrer-Policy", "no-referrer");
    response_.set(http::field::cache_control, "no-store");
    response_.keep_alive(false);
    response_.body() = text;
    response_.prepare_payload();
    http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code, std::size_t) {
      beast::error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  Engine& engine_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{largest_header + 1024};
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
};

LiveServer::Engine::Engine(const std::function<std::string(const std::string&)>& page, Source source)
    : source_(std::move(source)) {
  const tcp::endpoint anywhere(asio::ip::address_v4::loopback(), 0);  // the port is chosen by the system
  beast::error_code failed;
  acceptor_.open(anywhere.protocol(), failed);
  if (!failed) acceptor_.bind(anywhere, failed);
  if (!failed) acceptor_.listen(asio::socket_base::max_listen_connections, failed);
  if (failed) {
    throw Failure({Severity::error,
                   "cannot-serve",
                   "no port of this machine can be listened on: " + failed.message(),
                   "run without --view, and look at the result with `trammel view`",
                   {}},
                  ExitCode::cannot_write);
  }
  const std::string port = std::to_string(acceptor_.local_endpoint().port());
  host_ = "127.0.0.1:" + port;
  hosts_ = {host_, "localhost:" + port};
  page_ = page(host_);
  accept();
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "live-server");  // for those who measure it
}

// What a handler throws, most likely for want of memory, ends that handler and not the program, whose run goes on.
void LiveServer::Engine::run() {
  for (bool again = false; !closing_ || !again; again = true) {
    try {
      if (again) {
        std::this_thread::sleep_for(breath);
        ticking_ = false;
        wake();
      }
      io_.run();
      return;
    } catch (const std::exception&) {
      continue;
    }
  }
}

LiveServer::Engine::~Engine() {
  asio::post(io_, [this] {
    closing_ = true;
    beast::error_code ignored;
    acceptor_.close(ignored);
    for (Page* page : pages_) page->close();
    timer_.expires_after(farewell);
    timer_.async_wait([this](beast::error_code) { io_.stop(); });
  });
  thread_.join();
}

void LiveServer::Engine::accept() {
  acceptor_.async_accept([this](beast::error_code failed, tcp::socket socket) {
    if (closing_ || failed == asio::error::operation_aborted) return;
    if (failed) return accept_later();
    accept();
    if (connections_ >= most_connections) return;
    beast::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::make_shared<Connection>(*this, std::move(socket))->start();
  });
}

// Without a file left for it, the connection that waits fails again at once, and the thread would do nothing else.
void LiveServer::Engine::accept_later() {
  breath_.expires_after(breath);
  breath_.async_wait([this](beast::error_code failed) {
    if (!failed && !closing_) accept();
  });
}

// Nothing happens while no page is open.
void LiveServer::Engine::tick() {
  if (closing_ || pages_.empty()) {
    ticking_ = false;
    return;
  }
  ticking_ = true;
  for (Page* page : pages_) page->tick();
  timer_.expires_after(between_frames);
  timer_.async_wait([this](beast::error_code failed) {
    if (!failed) tick();
  });
}

const LiveServer::Message& LiveServer::Engine::frame(unsigned version) {
  if (!frame_ || frame_version_ != version) frame_ = source_.frame();
  frame_version_ = version;
  return frame_;
}

// Why a request is refused; nothing: it is not.
std::optional<http::status> LiveServer::Engine::refusal(const Request& request) const {
  const std::string_view host = view_of(request[http::field::host]);
  // Another name for this machine would be that of a page elsewhere (DNS rebinding).
  if (std::find(hosts_.begin(), hosts_.end(), host) == hosts_.end()) return http::status::forbidden;
  if (request.method() != http::verb::get) return http::status::method_not_allowed;
  const std::string_view target = view_of(request.target()), path = target.substr(0, target.find('?'));
  if (path != "/" && path != "/ws") return http::status::not_found;
  if (!equal_in_constant_time(query_field(target, "token"), token_)) return http::status::forbidden;
  if (path == "/") return {};
  if (!websocket::is_upgrade(request)) return http::status::bad_request;
  if (view_of(request[http::field::origin]) != "http://" + std::string(host)) return http::status::forbidden;
  if (pages_.size() >= most_pages) return http::status::service_unavailable;
  return {};
}

LiveServer::LiveServer(const std::function<std::string(const std::string& host)>& page, Source source)
    : engine_(std::make_unique<Engine>(page, std::move(source))), address_(engine_->address()) {}

LiveServer::~LiveServer() = default;

}  // namespace trammel
