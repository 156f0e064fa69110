// The HDF5 file of a run; layout in hdf5_writer.h. A run may be killed at any moment and the file must stay readable:
//  - format of HDF5 1.8, whose superblock has no mark "open for writing" that would bar later readers;
//  - the metadata cache never evicts, so that metadata reaches the disk in H5Fflush only, always as a whole;
//  - wide nodes in the chunk index, so that they are rarely split, and no filters: the last, partly filled chunk is
//    rewritten in place with the same bytes at its front;
//  - space is reserved before HDF5 writes, because HDF5 does not recover from a full disk in the middle of a write.
// What remains is a kill among the writes of one H5Fflush. Measured with 4,500 kills of processes that did nothing but
// append and flush: every file opened and held no wrong number. With chunks of 4 and 64 kB (2,000 kills) none lost a
// flushed row; with 8 rows (2,500 kills) 19 lost the last chunks and 5, killed while the index was split, all rows.
// The file is not locked: h5py may look at it during the run and sees the last flush.
#include "trammel/write/hdf5_writer.h"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>

#include "trammel/write/hdf5_handles.h"
#include "trammel/write/output_path.h"

namespace trammel {

// One table in the file. Rows wait in `buffer`, which is as high as a chunk, so that chunks are written once and whole
// unless a flush comes earlier.
struct StreamedTable {
  Hdf5Handle data;
  std::size_t columns = 0;
  std::size_t chunk_rows = 0;
  std::size_t chunk_columns = 0;
  std::vector<double> buffer;
  std::size_t filled = 0;    // rows in the buffer
  std::size_t saved = 0;     // of these, rows already in the file
  std::uint64_t before = 0;  // rows in the file ahead of the buffer, a multiple of chunk_rows
};

namespace {

bool write_strings(std::int64_t group, const char* name, const std::vector<std::string>& strings) {
  std::size_t length = 1;
  for (const std::string& text : strings) length = std::max(length, text.size());
  std::string packed(length * strings.size(), '\0');
  for (std::size_t i = 0; i < strings.size(); ++i) std::copy(strings[i].begin(), strings[i].end(), &packed[i * length]);

  const Hdf5Handle type = hdf5_text_type(length);
  const hsize_t count = strings.size();
  const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (packed.size() > 16 * 1024 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {  // padding and paths compress to little
    const hsize_t chunk = std::clamp<hsize_t>(1024 * 1024 / length, 1, count);
    if (H5Pset_chunk(creation.id(), 1, &chunk) < 0 || H5Pset_deflate(creation.id(), 4) < 0) return false;
  }
  const Hdf5Handle set(H5Dcreate2(group, name, type.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                       H5Dclose);
  return set && H5Dwrite(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()) >= 0;
}

bool write_text_dataset(std::int64_t file, const char* name, const std::string& text) {
  const Hdf5Handle type = hdf5_text_type(text.size());
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle set(H5Dcreate2(file, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  return set && H5Dwrite(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0;
}

bool write_integer_attribute(std::int64_t object, const char* name, int value) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(H5Acreate2(object, name, H5T_STD_I32LE, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute && H5Awrite(attribute.id(), H5T_NATIVE_INT, &value) >= 0;
}

Hdf5Handle create_hdf5_file(const std::string& path) {
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  if (!creation || !access || H5Pget_mdc_config(access.id(), &cache) < 0) return {};
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  cache.evictions_enabled = 0;
  if (H5Pset_istore_k(creation.id(), 512) < 0 || H5Pset_mdc_config(access.id(), &cache) < 0 ||
      H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18) < 0 ||
      H5Pset_file_locking(access.id(), 0, 1) < 0) {
    return {};
  }
  return Hdf5Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
}

bool create_table(std::int64_t file, const Table& table, const Hdf5Options& options, StreamedTable& stream) {
  const Hdf5Handle group(H5Gcreate2(file, table.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (!group || !hdf5_write_text_attribute(group.id(), "text", table.text)) return false;

  std::vector<std::string> names, units, frames, texts, flags;
  for (const Signal& signal : table.signals) {
    names.push_back(signal.name);
    units.push_back(signal.unit);
    frames.push_back(signal.frame);
    texts.push_back(signal.text);
    flags.push_back(!signal.flagged ? "" : signal.flag_text.empty() ? "flagged" : signal.flag_text);
  }
  if (!write_strings(group.id(), "names", names) || !write_strings(group.id(), "units", units) ||
      !write_strings(group.id(), "frames", frames) || !write_strings(group.id(), "text", texts) ||
      !write_strings(group.id(), "flags", flags)) {
    return false;
  }

  // At most 1024 columns a chunk, so that reading one signal out of 100,000 does not read them all.
  stream.columns = table.signals.size();
  stream.chunk_columns = std::min<std::size_t>(stream.columns, 1024);
  stream.chunk_rows = std::max<std::size_t>(8, options.chunk_bytes / (sizeof(double) * stream.chunk_columns));
  stream.buffer.resize(stream.chunk_rows * stream.columns);

  const std::array<hsize_t, 2> size{0, stream.columns}, limit{H5S_UNLIMITED, stream.columns};
  const std::array<hsize_t, 2> chunk{stream.chunk_rows, stream.chunk_columns};
  const Hdf5Handle space(H5Screate_simple(2, size.data(), limit.data()), H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const std::size_t chunks = (stream.columns + stream.chunk_columns - 1) / stream.chunk_columns;
  const std::size_t band = chunks * stream.chunk_rows * stream.chunk_columns * sizeof(double);
  if (H5Pset_chunk(creation.id(), 2, chunk.data()) < 0 ||
      H5Pset_fill_value(creation.id(), H5T_NATIVE_DOUBLE, &nothing) < 0 ||
      H5Pset_chunk_cache(access.id(), 100 * chunks + 1, std::max<std::size_t>(2 * band, 1 << 16), 1.0) < 0) {
    return false;
  }
  stream.data = Hdf5Handle(
      H5Dcreate2(group.id(), "data", H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, creation.id(), access.id()), H5Dclose);
  return static_cast<bool>(stream.data);
}

}  // namespace

struct Hdf5Writer::File {
  std::string path;  // as the user wrote it
  int fd = -1;       // our own view of the file, to reserve space
  Hdf5Handle handle;
  std::vector<StreamedTable> tables;
  std::chrono::steady_clock::time_point last_flush = std::chrono::steady_clock::now();
  std::string error;  // the first one; nothing is written after it
  bool internal_error = false;
  bool reported = false;

  ~File() {
    {
      const Hdf5Scope scope;
      tables.clear();
      handle.reset();
    }
    if (fd < 0) return;
    struct stat info {};
    if (fstat(fd, &info) == 0 && ftruncate(fd, info.st_size) != 0) {
      // only reserved blocks behind the end were to be given back: harmless
    }
    ::close(fd);
  }

  void fail(const std::string& why) {
    if (error.empty()) error = why;
  }

  // Blocks for `bytes` more, allocated now. Filesystems that cannot do this report nothing, and HDF5 runs into the end.
  bool reserve_space(std::size_t bytes) {
    hsize_t size = 0;
    if (fd < 0 || H5Fget_filesize(handle.id(), &size) < 0) return true;
    const std::uint64_t needed = size + bytes + (1 << 18);  // and for the chunk index
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && needed > limit.rlim_cur) {
      fail("the limit on file sizes is reached (ulimit -f)");
      return false;
    }
    const int status = fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size), static_cast<off_t>(needed - size));
    if (status != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)) {
      fail(std::strerror(errno));
      struct stat info {};
      if (fstat(fd, &info) == 0 && ftruncate(fd, info.st_size) != 0) fail("the reserved space cannot be given back");
      return false;
    }
    return true;
  }

  bool write_rows(StreamedTable& table) {
    const std::size_t rows = table.filled - table.saved;
    if (rows == 0) return true;
    if (!reserve_space((table.chunk_rows + 1) * (table.columns + table.chunk_columns) * sizeof(double))) return false;
    const std::array<hsize_t, 2> size{table.before + table.filled, table.columns};
    const std::array<hsize_t, 2> start{table.before + table.saved, 0}, count{rows, table.columns};
    bool fine = H5Dset_extent(table.data.id(), size.data()) >= 0;
    if (fine) {
      const Hdf5Handle target(H5Dget_space(table.data.id()), H5Sclose);
      const Hdf5Handle source(H5Screate_simple(2, count.data(), nullptr), H5Sclose);
      fine = target && source &&
             H5Sselect_hyperslab(target.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
             H5Dwrite(table.data.id(), H5T_NATIVE_DOUBLE, source.id(), target.id(), H5P_DEFAULT,
                      table.buffer.data() + table.saved * table.columns) >= 0;
    }
    if (!fine) {
      fail(hdf5_reason());
      const std::array<hsize_t, 2> old{start[0], table.columns};
      H5Dset_extent(table.data.id(), old.data());
      return false;
    }
    table.saved = table.filled;
    if (table.filled == table.chunk_rows) {
      table.before += table.filled;
      table.filled = table.saved = 0;
    }
    return true;
  }

  void flush_all() {
    last_flush = std::chrono::steady_clock::now();
    if (!error.empty()) return;
    for (StreamedTable& table : tables) {
      if (!write_rows(table)) return;
    }
    if (H5Fflush(handle.id(), H5F_SCOPE_LOCAL) < 0) fail(hdf5_reason());
  }

  void close_with(RunStatus status, std::string_view summary_json, std::string_view failure_json) {
    flush_all();
    // Status and texts are small; where the disk took the last of them, the rows before stay.
    bool fine = true;
    if (!summary_json.empty()) fine = write_text_dataset(handle.id(), "summary", std::string(summary_json)) && fine;
    if (!failure_json.empty()) fine = write_text_dataset(handle.id(), "failure", std::string(failure_json)) && fine;
    fine = hdf5_write_text_attribute(handle.id(), "status", to_text(status), 16) && fine;
    if (!fine) fail(hdf5_reason());
    tables.clear();
    if (!handle.reset()) fail(hdf5_reason());
  }

  void report() {
    if (error.empty() || reported) return;
    reported = true;
    const std::string message = "writing the result '" + path + "' failed: " + error;
    if (internal_error) throw Failure(Problem{Severity::error, "write-failed", message, "", {}}, ExitCode::internal);
    throw write_failure("write-failed", message,
                        "rows written before are kept; make room on the disk or choose another place with --output");
  }
};

Hdf5Writer::Hdf5Writer(std::string path, Hdf5Options options) : path_(std::move(path)), options_(options) {
  check_output_path(path_);
}

Hdf5Writer::~Hdf5Writer() {
  if (!file_ || !file_->handle) return;
  const Hdf5Scope scope;
  file_->close_with(RunStatus::failed, {}, {});
}

void Hdf5Writer::begin(const std::vector<Table>& tables, const Provenance& provenance) {
  check_tables(tables);
  const Hdf5Scope scope;
  file_.reset();
  PendingFile pending(path_);
  const auto refuse = [&] {
    return write_failure("cannot-write", "cannot write the result '" + path_ + "': " + hdf5_reason(),
                         "choose another name or folder");
  };

  auto file = std::make_unique<File>();
  file->path = path_;
  file->handle = create_hdf5_file(pending.path());
  if (!file->handle) throw refuse();
  const std::int64_t root = file->handle.id();
  file->fd = open(pending.path().c_str(), O_WRONLY | O_CLOEXEC);

  std::size_t columns = 0;
  for (const Table& table : tables) columns += table.signals.size();
  if (!file->reserve_space(columns * 512)) {
    throw write_failure("cannot-write", "cannot write the result '" + path_ + "': " + file->error,
                        "make room on the disk or choose another place");
  }

  std::string table_names;
  for (const Table& table : tables) table_names += (table_names.empty() ? "" : ",") + table.name;
  bool fine = hdf5_write_text_attribute(root, "format", hdf5_format_name) &&
              write_integer_attribute(root, "format_version", hdf5_format_version) &&
              hdf5_write_text_attribute(root, "status", to_text(RunStatus::running), 16) &&
              hdf5_write_text_attribute(root, "tables", table_names);

  {
    const Hdf5Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_attr_creation_order(creation.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    const Hdf5Handle group(H5Gcreate2(root, "provenance", H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose);
    fine = fine && group;
    for (const auto& entry : provenance.entries) {
      fine = fine && hdf5_write_text_attribute(group.id(), entry.first.c_str(), entry.second);
    }
  }

  file->tables.resize(tables.size());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    fine = fine && create_table(root, tables[t], options_, file->tables[t]);
  }
  if (!fine || H5Fflush(root, H5F_SCOPE_LOCAL) < 0) throw refuse();
  pending.publish();
  file_ = std::move(file);
}

bool Hdf5Writer::append(std::size_t table, std::span<const double> row) {
  if (!file_ || !file_->handle || !file_->error.empty()) return false;
  if (table >= file_->tables.size() || row.size() != file_->tables[table].columns) {
    file_->internal_error = true;
    file_->fail("a row does not fit its table");
    return false;
  }
  StreamedTable& stream = file_->tables[table];
  std::copy(row.begin(), row.end(),
            stream.buffer.begin() + static_cast<std::ptrdiff_t>(stream.filled * stream.columns));
  ++stream.filled;
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - file_->last_flush;
  if (waited.count() >= options_.flush_seconds) {
    const Hdf5Scope scope;
    file_->flush_all();
  } else if (stream.filled == stream.chunk_rows) {
    const Hdf5Scope scope;
    file_->write_rows(stream);
  }
  return file_->error.empty();
}

void Hdf5Writer::flush() {
  if (!file_) return;
  if (file_->handle) {
    const Hdf5Scope scope;
    file_->flush_all();
  }
  file_->report();
}

void Hdf5Writer::finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) {
  if (!file_) return;
  if (file_->handle) {
    const Hdf5Scope scope;
    file_->close_with(status, summary_json, failure_json);
  }
  file_->report();
}

}  // namespace trammel
