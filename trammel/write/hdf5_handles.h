// What the HDF5 writer and reader share: handles that close themselves, silence, and messages made from HDF5's error
// stack. The identifiers are plain integers here, so that no other file needs HDF5's headers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace trammel {

// The library of the distribution is not thread-safe: every use holds one lock, and keeps HDF5 from printing meanwhile.
class Hdf5Scope {
 public:
  Hdf5Scope();
  ~Hdf5Scope();
  Hdf5Scope(const Hdf5Scope&) = delete;
  Hdf5Scope& operator=(const Hdf5Scope&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  int (*printer_)(std::int64_t, void*) = nullptr;
  void* printer_data_ = nullptr;
};

// An HDF5 identifier with its closing function; negative means none.
class Hdf5Handle {
 public:
  using Close = int (*)(std::int64_t);
  Hdf5Handle() = default;
  Hdf5Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { reset(); }

  bool reset() {  // false if closing failed
    const bool fine = id_ < 0 || close_(id_) >= 0;
    id_ = -1;
    return fine;
  }
  std::int64_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  std::int64_t id_ = -1;
  Close close_ = nullptr;
};

// Why the first HDF5 call failed since the scope began or the reason was last asked for, most specific description, in
// the system's words where there are any.
std::string hdf5_reason();

// The root attributes that make a file a result.
inline constexpr std::string_view hdf5_format_name = "trammel-result";
inline constexpr int hdf5_format_version = 1;
inline constexpr std::string_view hdf5_matrices_name = "trammel-matrices";  // linear systems and modes, matrix_file.h

// The file says that it has this format. One that is too damaged to be opened says so if the name of the format stands
// in its first bytes, where the root attributes are written.
bool hdf5_is_written_by_us(const std::string& path, std::string_view format_name);

// Opening for reading, without a lock, so that a run in progress can be looked at.
Hdf5Handle hdf5_open_readonly(const std::string& path);

// Texts have fixed length everywhere and are padded with zeros: HDF5's heap for strings of variable length has no
// checksum, and a damaged one crashes the library. A text longer than `length` bytes cannot be stored in this type.
Hdf5Handle hdf5_text_type(std::size_t length);
std::size_t hdf5_text_length(std::int64_t type);  // 0 if the type is another one, or absurdly long

// A text attribute: false if there is none that can be read; created with at least `room` bytes, or overwritten, for
// which it must not have become longer.
bool hdf5_read_text_attribute(std::int64_t object, const char* name, std::string& text);
bool hdf5_write_text_attribute(std::int64_t object, const char* name, std::string_view text, std::size_t room = 0);

}  // namespace trammel
