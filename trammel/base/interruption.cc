#include "trammel/base/interruption.h"

namespace trammel {
namespace {

thread_local const std::atomic<bool>* watched_flag = nullptr;

}  // namespace

InterruptionScope::InterruptionScope(const std::atomic<bool>* flag) : before_(watched_flag) { watched_flag = flag; }
InterruptionScope::~InterruptionScope() { watched_flag = before_; }

bool interruption_asked() { return watched_flag != nullptr && *watched_flag; }

}  // namespace trammel
