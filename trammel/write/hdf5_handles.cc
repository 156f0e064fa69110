// Handles, silence and messages for HDF5; see hdf5_handles.h.
#include "trammel/write/hdf5_handles.h"

#include <hdf5.h>

#include <algorithm>
#include <fstream>
#include <type_traits>

namespace trammel {

static_assert(std::is_same_v<hid_t, std::int64_t> && std::is_same_v<herr_t, int>);

namespace {

std::recursive_mutex& hdf5_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

// The reason of the first failed call since it was last asked for. HDF5 itself forgets it at the next successful call,
// and closing a handle is one.
std::string& stored_reason() {
  static std::string reason;
  return reason;
}

herr_t keep_first_description(unsigned index, const H5E_error2_t* error, void* text) {
  if (index == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 0;
}

// Called by HDF5 where it would print its error stack.
herr_t keep_reason(hid_t stack, void*) {
  if (stored_reason().empty()) H5Ewalk2(stack, H5E_WALK_UPWARD, keep_first_description, &stored_reason());
  return 0;
}

}  // namespace

Hdf5Scope::Hdf5Scope() : lock_(hdf5_mutex()) {
  // Files are closed by their handles; at exit HDF5 would print complaints about what damaged files left behind in it.
  static const herr_t once = H5dont_atexit();
  static_cast<void>(once);
  H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
  H5Eset_auto2(H5E_DEFAULT, keep_reason, nullptr);
  if (printer_ != keep_reason) stored_reason().clear();
}

Hdf5Scope::~Hdf5Scope() { H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_); }

std::string hdf5_reason() {
  std::string text;
  text.swap(stored_reason());
  const std::string mark = "error message = '";  // HDF5 puts strerror between a dozen details
  const std::size_t begin = text.find(mark);
  if (begin != std::string::npos) {
    const std::size_t end = text.find('\'', begin + mark.size());
    text = text.substr(begin + mark.size(), end == std::string::npos ? end : end - begin - mark.size());
  }
  return text.empty() ? "HDF5 gives no reason" : text;
}

Hdf5Handle hdf5_text_type(std::size_t length) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  if (H5Tset_size(type.id(), std::max<std::size_t>(length, 1)) < 0 || H5Tset_cset(type.id(), H5T_CSET_UTF8) < 0 ||
      H5Tset_strpad(type.id(), H5T_STR_NULLPAD) < 0) {
    return {};
  }
  return type;
}

std::size_t hdf5_text_length(std::int64_t type) {
  constexpr std::size_t too_long = std::size_t{1} << 28;
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) return 0;
  const std::size_t length = H5Tget_size(type);
  return length < too_long ? length : 0;
}

bool hdf5_write_text_attribute(std::int64_t object, const char* name, std::string_view text, std::size_t room) {
  std::string padded(text);
  padded.resize(std::max<std::size_t>({text.size(), room, 1}), '\0');
  const Hdf5Handle type = hdf5_text_type(padded.size());
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const htri_t exists = H5Aexists(object, name);
  if (!type || !scalar || exists < 0) return false;
  const Hdf5Handle attribute(exists > 0 ? H5Aopen(object, name, H5P_DEFAULT)
                                        : H5Acreate2(object, name, type.id(), scalar.id(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  return attribute && H5Awrite(attribute.id(), type.id(), padded.data()) >= 0;
}

bool hdf5_read_text_attribute(std::int64_t object, const char* name, std::string& text) {
  if (H5Aexists(object, name) <= 0) return false;
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(attribute ? H5Aget_type(attribute.id()) : -1, H5Tclose);
  const Hdf5Handle space(attribute ? H5Aget_space(attribute.id()) : -1, H5Sclose);
  if (!type || !space || H5Sget_simple_extent_npoints(space.id()) != 1) return false;
  const std::size_t length = hdf5_text_length(type.id());
  if (length == 0) return false;
  text.assign(length, '\0');
  if (H5Aread(attribute.id(), type.id(), text.data()) < 0) return false;
  text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
  return true;
}

Hdf5Handle hdf5_open_readonly(const std::string& path) {
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!access || H5Pset_file_locking(access.id(), 0, 1) < 0) return {};
  return Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
}

bool hdf5_is_written_by_us(const std::string& path, std::string_view format_name) {
  const Hdf5Scope scope;
  const Hdf5Handle file = hdf5_open_readonly(path);
  std::string format;
  if (file) return hdf5_read_text_attribute(file.id(), "format", format) && format == format_name;
  std::string head(std::size_t{1} << 14, '\0');
  std::ifstream(path, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.find(format_name) != std::string::npos;
}

}  // namespace trammel
