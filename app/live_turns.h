// Whose turn it is: which message goes to a page next. Status and rows share the way to it, and neither may keep the
// other from it: at most one of each goes in a sixtieth of a second, and after one of them it is the turn of the other.
#pragma once
#include "app/live_server.h"

namespace trammel {

class LiveTurns {
 public:
  using Versions = LiveServer::Source::Versions;
  enum class Kind { nothing, header, status, frame };

  // Another sixtieth of a second begins.
  void tick() { header_may_ = status_may_ = frame_may_ = true; }

  Kind next(const Versions& now) const {
    const bool header = header_may_ && (!greeted_ || now.header != seen_.header),
               status = status_may_ && (!informed_ || now.status != seen_.status),
               frame = frame_may_ && greeted_ && now.frame != seen_.frame;
    if (header) return Kind::header;
    if (status && !(frame && after_status_)) return Kind::status;
    return frame ? Kind::frame : Kind::nothing;
  }

  // It has had its turn; `sent`: there was such a message.
  void took(Kind kind, const Versions& now, bool sent) {
    switch (kind) {
      case Kind::nothing: break;
      case Kind::header:
        header_may_ = false;
        if (!sent) break;
        greeted_ = true;
        seen_.header = now.header;
        seen_.frame = now.frame;  // it holds all rows up to now
        break;
      case Kind::status:
        status_may_ = false;
        if (!sent) break;
        informed_ = true;
        seen_.status = now.status;
        break;
      case Kind::frame:
        frame_may_ = false;
        if (sent) seen_.frame = now.frame;
        break;
    }
    after_status_ = kind == Kind::status;
  }

 private:
  bool header_may_ = true, status_may_ = true, frame_may_ = true;
  bool greeted_ = false, informed_ = false;  // it has a header, a status
  bool after_status_ = false;
  Versions seen_;
};

}  // namespace trammel
