// Objects to bytes and back. A class names its fields once,
//
//   void visit(Archive& archive) { archive(t_, y_, dydt_, counts_); }
//
// and the same list writes and reads them, so that none can be forgotten on one of the two ways. What follows from the
// fields is set up again `if (archive.reading())`. Bytes belong to the machine that wrote them.
#pragma once
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "trammel/base/diagnosis.h"
#include "trammel/base/types.h"

namespace trammel {

class Archive {
 public:
  explicit Archive(Bytes& out) : out_(&out) {}
  explicit Archive(std::span<const std::byte>& in) : in_(&in) {}
  bool reading() const { return in_ != nullptr; }

  template <class... Fields>
  void operator()(Fields&... fields) {
    (field(fields), ...);
  }
  // While reading: a state for which this does not hold belongs to another model.
  void expect(bool fits) const {
    if (reading() && !fits) refuse();
  }

 private:
  template <class T>
  static constexpr bool visited = requires(T& object, Archive& archive) {
    object.visit(archive);
  };

  template <class T>
  void field(T& value) {
    if constexpr (visited<T>) {
      value.visit(*this);
    } else {
      static_assert(std::is_trivially_copyable_v<T>, "give the type a member visit(Archive&)");
      raw(&value, sizeof value);
    }
  }
  // Fixed sizes as they are, others with their sizes.
  template <class Scalar, int rows, int columns>
  void field(Eigen::Matrix<Scalar, rows, columns>& m) {
    if constexpr (rows == Eigen::Dynamic || columns == Eigen::Dynamic) {
      Eigen::Index sizes[2] = {m.rows(), m.cols()};
      if constexpr (rows == Eigen::Dynamic) raw(&sizes[0], sizeof sizes[0]);
      if constexpr (columns == Eigen::Dynamic) raw(&sizes[1], sizeof sizes[1]);
      if (reading()) {
        const auto most = static_cast<Eigen::Index>(in_->size() / sizeof(Scalar));  // sizes may be nonsense
        const bool empty = sizes[0] == 0 || sizes[1] == 0;
        if (sizes[0] < 0 || sizes[1] < 0 || (!empty && sizes[0] > most / sizes[1])) refuse();
        m.resize(sizes[0], sizes[1]);
      }
    }
    raw(m.data(), static_cast<std::size_t>(m.size()) * sizeof(Scalar));
  }
  template <class T>
  void field(std::vector<T>& list) {
    std::size_t size = list.size();
    raw(&size, sizeof size);
    if (reading()) {
      if (size > in_->size()) refuse();
      list.resize(size);
    }
    if constexpr (std::is_trivially_copyable_v<T> && !visited<T>) {
      raw(list.data(), size * sizeof(T));
    } else {
      for (T& entry : list) field(entry);
    }
  }
  template <class T, std::size_t n>
  void field(std::array<T, n>& list) {
    for (T& entry : list) field(entry);
  }
  void field(std::string& text) {
    std::size_t size = text.size();
    raw(&size, sizeof size);
    if (reading()) {
      if (size > in_->size()) refuse();
      text.resize(size);
    }
    raw(text.data(), size);
  }

  void raw(void* data, std::size_t size) {
    if (reading()) {
      if (in_->size() < size) refuse();
      if (size > 0) std::memcpy(data, in_->data(), size);  // an empty vector has no data to point to
      *in_ = in_->subspan(size);
    } else {
      const std::size_t at = out_->size();
      out_->resize(at + size);
      if (size > 0) std::memcpy(out_->data() + at, data, size);
    }
  }
  [[noreturn]] static void refuse() {
    throw Failure({Severity::error,
                   "truncated-state",
                   "the saved state ends too early",
                   "it was cut off or belongs to another model",
                   {}},
                  ExitCode::failed_run);
  }

  Bytes* out_ = nullptr;
  std::span<const std::byte>* in_ = nullptr;
};

// Appends. Writing changes nothing, though `visit` could.
template <class T>
void write_state(const T& object, Bytes& out) {
  Archive archive(out);
  archive(const_cast<T&>(object));
}
// Goes on behind what it read.
template <class T>
void read_state(T& object, std::span<const std::byte>& in) {
  Archive archive(in);
  archive(object);
}

}  // namespace trammel
