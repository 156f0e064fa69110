// Numbers to bytes and back, for save and restore.
#pragma once
#include <cstring>
#include <span>
#include <type_traits>

#include "trammel/base/diagnosis.h"
#include "trammel/base/types.h"

namespace trammel {

inline void put_bytes(Bytes& out, const void* data, std::size_t size) {
  const auto* p = static_cast<const std::byte*>(data);
  out.insert(out.end(), p, p + size);
}
inline void expect_bytes(std::span<const std::byte> in, std::size_t size) {
  if (in.size() >= size) return;
  throw Failure({Severity::error,
                 "truncated-state",
                 "the saved state ends too early",
                 "it was cut off or belongs to another model",
                 {}},
                ExitCode::failed_run);
}
inline void take_bytes(std::span<const std::byte>& in, void* data, std::size_t size) {
  expect_bytes(in, size);
  if (size > 0) std::memcpy(data, in.data(), size);  // an empty vector has no data to point to
  in = in.subspan(size);
}

template <class T>
requires std::is_trivially_copyable_v<T>
void put(Bytes& out, const T& value) { put_bytes(out, &value, sizeof value); }
template <class T>
requires std::is_trivially_copyable_v<T>
void take(std::span<const std::byte>& in, T& value) { take_bytes(in, &value, sizeof value); }

inline void put(Bytes& out, const double* data, std::size_t n) {
  put(out, n);
  put_bytes(out, data, n * sizeof(double));
}
inline void put(Bytes& out, const Vec& v) { put(out, v.data(), static_cast<std::size_t>(v.size())); }
inline void put(Bytes& out, const std::vector<double>& v) { put(out, v.data(), v.size()); }

// Vectors keep their size: a saved state of another size belongs to another model.
inline std::size_t take_size(std::span<const std::byte>& in) {
  std::size_t n = 0;
  take(in, n);
  expect_bytes(in, n > in.size() ? n : n * sizeof(double));  // n itself may be nonsense
  return n;
}
inline void take(std::span<const std::byte>& in, Vec& v) {
  v.resize(static_cast<Eigen::Index>(take_size(in)));
  take_bytes(in, v.data(), static_cast<std::size_t>(v.size()) * sizeof(double));
}
inline void take(std::span<const std::byte>& in, std::vector<double>& v) {
  v.resize(take_size(in));
  take_bytes(in, v.data(), v.size() * sizeof(double));
}

}  // namespace trammel
