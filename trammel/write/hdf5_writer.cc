// The HDF5 file of a run; layout in hdf5_writer.h. A run may be killed at any moment, and the file must stay readable.
// HDF5 writes its own tables (indices of chunks, headers) in several pieces, in no order that a kill between two of
// them would leave in peace. So the file that bears the result's name never has any of them changed:
//  - its tables are made larger than they are filled, all chunks placed; unfilled rows hold not-a-number in column 0.
//    New rows are plain writes to places that exist, past HDF5's caches;
//  - a table that is full is made twice as large in a copy of the file, which then takes the name of the old one;
//  - the end of the run writes one more copy, without unfilled rows, with status and summary, and renames it likewise.
// Until such a rename the old file is whole, afterwards the new one. Copies cost as much as the rows once or twice
// over. Space is reserved before HDF5 writes, because it does not recover from a full disk in the middle of a write.
// Format of HDF5 1.8, whose superblock has no mark "open for writing" that would bar later readers; not locked: h5py
// may look at the file during the run and sees the last flush.
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
#include <utility>

#include "trammel/write/hdf5_handles.h"
#include "trammel/write/output_path.h"
#include "trammel/write/read_trajectory.h"
#include "trammel/write/sha256.h"

namespace trammel {

// One table in the file. Rows wait in `buffer`, which is as high as a chunk, so that chunks are written once and whole
// unless a flush comes earlier.
struct StreamedTable {
  Hdf5Handle data;
  std::size_t columns = 0;
  std::size_t chunk_rows = 0;
  std::size_t chunk_columns = 0;
  std::vector<double> buffer;
  std::size_t filled = 0;      // rows in the buffer
  std::size_t saved = 0;       // of these, rows already in the file
  std::uint64_t before = 0;    // rows in the file ahead of the buffer, a multiple of chunk_rows
  std::uint64_t capacity = 0;  // rows that the file has room for
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
  // HDF5's own checksum needs chunks, whose index would be 33 kB for each list; the header of a dataset has one anyway.
  return set && H5Dwrite(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()) >= 0 &&
         hdf5_write_text_attribute(set.id(), "sha256", sha256_hex(packed));
}

bool write_text_dataset(std::int64_t file, const char* name, const std::string& text) {
  const Hdf5Handle type = hdf5_text_type(text.size());
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle set(H5Dcreate2(file, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  return set && H5Dwrite(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0 &&
         hdf5_write_text_attribute(set.id(), "sha256", sha256_hex(text));
}

bool write_integer_attribute(std::int64_t object, const char* name, int value) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(H5Acreate2(object, name, H5T_STD_I32LE, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute && H5Awrite(attribute.id(), H5T_NATIVE_INT, &value) >= 0;
}

// How files and datasets are opened for writing.
Hdf5Handle file_access() {
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!access || H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18) < 0 ||
      H5Pset_file_locking(access.id(), 0, 1) < 0) {
    return {};
  }
  return access;
}

// No cache of chunks: rows go straight to the file.
Hdf5Handle data_access() {
  Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  if (!access || H5Pset_chunk_cache(access.id(), 1, 0, 1.0) < 0) return {};
  return access;
}

Hdf5Handle create_hdf5_file(const std::string& path) {
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  const Hdf5Handle access = file_access();
  if (!creation || !access || H5Pset_istore_k(creation.id(), 512) < 0) return {};
  return Hdf5Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
}

// Rows of a finished result carry checksums. A running one has none: its chunks are filled piece by piece, and a kill
// in the middle of such a write would take the whole chunk with it.
enum class Checksums { no, yes };

// `rows`: room for so many; 0: for one chunk.
bool create_table(std::int64_t file, const Table& table, const Hdf5Options& options, std::uint64_t rows, Checksums sums,
                  StreamedTable& stream) {
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

  // At most 1024 columns a chunk, so that reading one signal out of 100,000 does not read them all. In a large result
  // that is finished 128 chunks lie side by side: one signal and its time are then two parts in 128 of it. While a run
  // goes on, rows come one by one, and narrow chunks would scatter each of them over the file.
  constexpr std::uint64_t large = 4 << 20;
  constexpr std::size_t side_by_side = 128;
  stream.columns = table.signals.size();
  const bool narrow = sums == Checksums::yes && rows * stream.columns * sizeof(double) > large;
  stream.chunk_columns = narrow ? (stream.columns + side_by_side - 1) / side_by_side : stream.columns;
  stream.chunk_columns = std::min<std::size_t>(stream.chunk_columns, 1024);
  stream.chunk_rows = std::max<std::size_t>(8, options.chunk_bytes / (sizeof(double) * stream.chunk_columns));
  if (narrow) {  // chunks are stored whole: no more rows than are filled
    const std::uint64_t bands = (rows + stream.chunk_rows - 1) / stream.chunk_rows;
    stream.chunk_rows = (rows + bands - 1) / bands;
  }
  stream.buffer.resize(stream.chunk_rows * stream.columns);

  stream.capacity = rows > 0 ? rows : stream.chunk_rows;
  const std::array<hsize_t, 2> size{stream.capacity, stream.columns}, limit{H5S_UNLIMITED, stream.columns};
  const std::array<hsize_t, 2> chunk{stream.chunk_rows, stream.chunk_columns};
  const Hdf5Handle space(H5Screate_simple(2, size.data(), limit.data()), H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const Hdf5Handle access = data_access();
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  if (!space || !access || H5Pset_chunk(creation.id(), 2, chunk.data()) < 0 ||
      H5Pset_fill_value(creation.id(), H5T_NATIVE_DOUBLE, &nothing) < 0 ||
      H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY) < 0 ||
      (sums == Checksums::yes && H5Pset_fletcher32(creation.id()) < 0)) {
    return false;
  }
  stream.data = Hdf5Handle(
      H5Dcreate2(group.id(), "data", H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, creation.id(), access.id()), H5Dclose);
  return static_cast<bool>(stream.data);
}

// Everything but the rows: root attributes, provenance, the empty tables.
bool create_structure(std::int64_t root, const std::vector<Table>& tables, const Provenance& provenance,
                      const Hdf5Options& options, const std::vector<std::uint64_t>& rows, Checksums sums,
                      std::vector<StreamedTable>& streams) {
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
  streams.clear();
  streams.resize(tables.size());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    fine = fine && create_table(root, tables[t], options, rows.empty() ? 0 : rows[t], sums, streams[t]);
  }
  return fine;
}

// Rows [first, first + count) between the file and `values`.
bool transfer_rows(const Hdf5Handle& data, std::uint64_t first, std::uint64_t count, std::uint64_t columns,
                   double* values, bool write) {
  if (count == 0) return true;
  const std::array<hsize_t, 2> start{first, 0}, size{count, columns};
  const Hdf5Handle there(H5Dget_space(data.id()), H5Sclose);
  const Hdf5Handle here(H5Screate_simple(2, size.data(), nullptr), H5Sclose);
  if (!there || !here ||
      H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0) {
    return false;
  }
  return (write ? H5Dwrite(data.id(), H5T_NATIVE_DOUBLE, here.id(), there.id(), H5P_DEFAULT, values)
                : H5Dread(data.id(), H5T_NATIVE_DOUBLE, here.id(), there.id(), H5P_DEFAULT, values)) >= 0;
}

// Everything to the file, and the file as long as its superblock says: HDF5 grows it only when something is written at
// its end, and a reader would take it for cut off.
bool flush_whole(std::int64_t file, const std::string& name) {
  haddr_t end = 0;
  if (H5Fflush(file, H5F_SCOPE_LOCAL) < 0 || H5Fget_eoa(file, &end) < 0) return false;
  struct stat info {};
  if (stat(name.c_str(), &info) != 0) return false;
  return static_cast<haddr_t>(info.st_size) >= end || truncate(name.c_str(), static_cast<off_t>(end)) == 0;
}

// Sizes of a table that is in the file.
bool read_layout(StreamedTable& stream) {
  const Hdf5Handle space(H5Dget_space(stream.data.id()), H5Sclose);
  const Hdf5Handle creation(H5Dget_create_plist(stream.data.id()), H5Pclose);
  std::array<hsize_t, 2> size{}, chunk{};
  if (!space || !creation || H5Sget_simple_extent_dims(space.id(), size.data(), nullptr) != 2 ||
      H5Pget_chunk(creation.id(), 2, chunk.data()) != 2) {
    return false;
  }
  stream.capacity = size[0];
  stream.columns = size[1];
  stream.chunk_rows = chunk[0];
  stream.chunk_columns = chunk[1];
  return true;
}

bool copy_file(int from, int to) {
  struct stat info {};
  if (fstat(from, &info) != 0) return false;
  off_t in = 0, out = 0;
  while (in < info.st_size) {
    const ssize_t count = copy_file_range(from, &in, to, &out, static_cast<std::size_t>(info.st_size - in), 0);
    if (count > 0) continue;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return false;
    std::vector<char> buffer(1 << 20);  // a filesystem that leaves copying to us
    while (in < info.st_size) {
      const ssize_t got = pread(from, buffer.data(), buffer.size(), in);
      if (got <= 0) return false;
      for (ssize_t done = 0; done < got;) {
        const ssize_t put = pwrite(to, buffer.data() + done, static_cast<std::size_t>(got - done), in + done);
        if (put <= 0) return false;
        done += put;
      }
      in += got;
    }
  }
  return true;
}

}  // namespace

struct Hdf5Writer::File {
  std::string path;   // as the user wrote it
  std::string place;  // with links followed
  int fd = -1;        // our own view of the file
  Hdf5Handle handle;
  Hdf5Options options;
  std::vector<Table> description;
  Provenance provenance;
  std::vector<StreamedTable> tables;
  std::chrono::steady_clock::time_point last_flush = std::chrono::steady_clock::now();
  std::string error;  // the first one; nothing is written after it
  bool internal_error = false;
  bool reported = false;
  bool lost = false;  // the file no longer bears the name

  ~File() { close_file(); }

  bool close_file() {
    bool fine = true;
    {
      const Hdf5Scope scope;
      for (StreamedTable& table : tables) fine = table.data.reset() && fine;
      fine = handle.reset() && fine;
    }
    if (fd < 0) return fine;
    give_back();
    ::close(fd);
    fd = -1;
    return fine;
  }

  // Blocks reserved behind the end and not used.
  void give_back() const {
    struct stat info {};
    if (fstat(fd, &info) == 0 && ftruncate(fd, info.st_size) != 0) {
      // they are given back when the file is removed: harmless
    }
  }

  void fail(const std::string& why) {
    if (error.empty()) error = why;
  }

  // Is the file that we write still the one that bears the name? A folder that was removed takes its files along, and
  // writing to them goes on without an error.
  bool still_there() {
    struct stat ours {};
    struct stat named {};
    if (fstat(fd, &ours) != 0) return true;
    if (stat(place.c_str(), &named) != 0) {
      fail("the file is gone: it or its folder was removed during the run");
      lost = true;
      return false;
    }
    if (ours.st_dev == named.st_dev && ours.st_ino == named.st_ino) return true;
    fail("the file was replaced by another one during the run");
    lost = true;
    return false;
  }

  std::string temporary() const { return place + "." + std::to_string(getpid()) + ".new"; }

  bool open_file(const std::string& name) {
    const Hdf5Handle access = file_access(), rows = data_access();
    if (!access || !rows) return false;
    handle = Hdf5Handle(H5Fopen(name.c_str(), H5F_ACC_RDWR, access.id()), H5Fclose);
    if (!handle) return false;
    for (std::size_t t = 0; t < description.size(); ++t) {
      tables[t].data = Hdf5Handle(H5Dopen2(handle.id(), (description[t].name + "/data").c_str(), rows.id()), H5Dclose);
      if (!tables[t].data) return false;
    }
    fd = open(name.c_str(), O_RDWR | O_CLOEXEC);
    return fd >= 0;
  }

  // Blocks for `bytes` more, allocated now. Filesystems that cannot do this report nothing, and HDF5 runs into the end.
  bool reserve_space(std::size_t bytes) {
    struct stat info {};
    if (fd < 0 || fstat(fd, &info) != 0) return true;
    const std::uint64_t size = static_cast<std::uint64_t>(info.st_size), needed = size + bytes + (1 << 18);
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && needed > limit.rlim_cur) {
      fail("the limit on file sizes is reached (ulimit -f)");
      return false;
    }
    const int status = fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size), static_cast<off_t>(needed - size));
    if (status != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)) {
      fail(std::strerror(errno));
      return false;
    }
    return true;
  }

  static std::size_t room(const StreamedTable& table, std::uint64_t rows) {
    const std::size_t across = (table.columns + table.chunk_columns - 1) / table.chunk_columns;
    return static_cast<std::size_t>(rows + table.chunk_rows) * across * table.chunk_columns * sizeof(double);
  }

  // A copy of the file, in which `change` does something, takes the place of the file. If that fails the file stays as
  // it is, and open.
  template <class Change>
  bool replace_by_changed_copy(std::size_t more_bytes, Change&& change) {
    if (!still_there()) return false;
    const std::string name = temporary();
    const int copy = open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (copy < 0 && (errno == EACCES || errno == EPERM)) {  // a folder that takes no new files: change it where it is
      if (reserve_space(more_bytes) && change() && H5Fflush(handle.id(), H5F_SCOPE_LOCAL) >= 0) return true;
      fail(hdf5_reason());
      return false;
    }
    bool fine = copy >= 0 && copy_file(fd, copy);
    if (!fine) fail(std::strerror(errno));
    if (fine) {
      const int old = std::exchange(fd, copy);
      fine = reserve_space(more_bytes);
      fd = old;
    }
    if (copy >= 0) ::close(copy);
    if (fine) {
      close_file();
      // Closed before it gets the name: closing may still cut off space that was set aside.
      if (!open_file(name) || !change() || !flush_whole(handle.id(), name) || !close_file()) {
        fail(access(name.c_str(), F_OK) == 0 ? hdf5_reason() : std::strerror(ENOENT));
        fine = false;
      } else if (rename(name.c_str(), place.c_str()) != 0) {
        fail(std::strerror(errno));
        fine = false;
      }
      close_file();
      if (!open_file(place)) {
        fail(hdf5_reason());
        fine = false;
      }
    }
    if (!fine) unlink(name.c_str());
    return fine;
  }

  // Room for twice the rows, or as many as are asked for.
  bool grow(StreamedTable& table, std::uint64_t rows) {
    const std::uint64_t wanted = std::max(2 * table.capacity, rows);
    const bool fine = replace_by_changed_copy(room(table, wanted - table.capacity), [&] {
      const std::array<hsize_t, 2> size{wanted, table.columns};
      return H5Dset_extent(table.data.id(), size.data()) >= 0;
    });
    if (fine) table.capacity = wanted;
    return fine;
  }

  bool write_rows(StreamedTable& table) {
    const std::size_t rows = table.filled - table.saved;
    if (rows == 0) return true;
    if (table.before + table.filled > table.capacity && !grow(table, table.before + table.filled)) return false;
    if (!transfer_rows(table.data, table.before + table.saved, rows, table.columns,
                       table.buffer.data() + table.saved * table.columns, true)) {
      fail(hdf5_reason());
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
    if (!error.empty() || !still_there()) return;
    for (StreamedTable& table : tables) {
      if (!write_rows(table)) return;
    }
  }

  bool write_end(std::int64_t root, RunStatus status, std::string_view summary_json, std::string_view failure_json) {
    bool fine = true;
    if (!summary_json.empty()) fine = write_text_dataset(root, "summary", std::string(summary_json)) && fine;
    if (!failure_json.empty()) fine = write_text_dataset(root, "failure", std::string(failure_json)) && fine;
    return hdf5_write_text_attribute(root, "status", to_text(status), 16) && fine;
  }

  // A new file with the first `counts` rows of each table takes the place of the file. `end` writes what else belongs
  // to it; `room_for_more`: the run goes on in it.
  template <class End>
  bool write_anew(const std::vector<std::uint64_t>& counts, bool room_for_more, std::size_t more_bytes, End&& end) {
    const std::string name = temporary();
    std::vector<StreamedTable> streams;
    bool fine = true;
    {
      const Hdf5Handle file = create_hdf5_file(name);
      std::vector<std::uint64_t> rows;
      std::size_t bytes = more_bytes;
      for (std::size_t t = 0; t < tables.size(); ++t) {
        rows.push_back(std::max<std::uint64_t>(counts[t], room_for_more ? tables[t].chunk_rows : 1));
        bytes += room(tables[t], rows[t]) + 512 * tables[t].columns;
      }
      const int copy = file ? open(name.c_str(), O_RDWR | O_CLOEXEC) : -1;
      fine = copy >= 0;
      if (fine) {
        const std::string before = error;
        const int old = std::exchange(fd, copy);
        fine = reserve_space(bytes);
        fd = old;
        error = before;
        ::close(copy);
      }
      fine = fine && create_structure(file.id(), description, provenance, options, rows,
                                      room_for_more ? Checksums::no : Checksums::yes, streams);
      for (std::size_t t = 0; t < tables.size() && fine; ++t) {
        // Whole chunks of the new file, and as high as one of the old: either may have checksums, and is then read or
        // written chunk by chunk.
        const std::size_t high = streams[t].chunk_rows,
                          step = high * ((std::max(high, tables[t].chunk_rows) + high - 1) / high);
        std::vector<double> band(step * tables[t].columns);
        for (std::uint64_t first = 0; first < counts[t] && fine; first += step) {
          const std::uint64_t some = std::min<std::uint64_t>(step, counts[t] - first);
          fine = transfer_rows(tables[t].data, first, some, tables[t].columns, band.data(), false) &&
                 transfer_rows(streams[t].data, first, some, tables[t].columns, band.data(), true);
        }
        const std::array<hsize_t, 2> size{0, tables[t].columns};
        if (counts[t] == 0 && !room_for_more) fine = fine && H5Dset_extent(streams[t].data.id(), size.data()) >= 0;
      }
      fine = fine && end(file.id()) && flush_whole(file.id(), name);
      for (StreamedTable& stream : streams) fine = stream.data.reset() && fine;
    }
    fine = fine && rename(name.c_str(), place.c_str()) == 0;
    if (!fine) unlink(name.c_str());
    return fine;
  }

  // Exactly the rows there are, and how the run ended.
  bool write_final(RunStatus status, std::string_view summary_json, std::string_view failure_json) {
    std::vector<std::uint64_t> counts;
    for (const StreamedTable& table : tables) counts.push_back(table.before + table.saved);
    return write_anew(counts, false, summary_json.size() + failure_json.size(),
                      [&](std::int64_t root) { return write_end(root, status, summary_json, failure_json); });
  }

  void close_with(RunStatus status, std::string_view summary_json, std::string_view failure_json) {
    flush_all();
    // Where there is no room for another copy, status and texts go into the file as it is; its unfilled rows stay.
    if (lost || !write_final(status, summary_json, failure_json)) {
      hdf5_reason();
      if (!write_end(handle.id(), status, summary_json, failure_json)) fail(hdf5_reason());
    }
    if (!close_file()) fail(hdf5_reason());
  }

  void report() {
    if (error.empty() || reported) return;
    reported = true;
    // Which call notices a vanished folder first is a matter of chance, and how much of it is gone by then.
    if (access(place.c_str(), F_OK) != 0 || error == std::strerror(ENOENT))
      error = "the file is gone: it or its folder was removed during the run";
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
  file->place = pending.place();
  file->options = options_;
  file->description = tables;
  file->provenance = provenance;
  file->handle = create_hdf5_file(pending.path());
  if (!file->handle) throw refuse();
  file->fd = open(pending.path().c_str(), O_RDWR | O_CLOEXEC);

  std::size_t bytes = 0;
  for (const Table& table : tables) bytes += table.signals.size() * 512 + options_.chunk_bytes;
  if (!file->reserve_space(bytes)) {
    throw write_failure("cannot-write", "cannot write the result '" + path_ + "': " + file->error,
                        "make room on the disk or choose another place");
  }
  if (!create_structure(file->handle.id(), tables, provenance, options_, {}, Checksums::no, file->tables) ||
      !flush_whole(file->handle.id(), pending.path())) {
    throw refuse();
  }
  // Closed before it gets its name, as every copy later.
  if (!file->close_file()) throw refuse();
  pending.publish();
  if (!file->open_file(file->place)) throw refuse();
  file_ = std::move(file);
}

void Hdf5Writer::resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) {
  check_tables(tables);
  const Hdf5Scope scope;
  file_.reset();
  const auto refuse = [&](const std::string& why) {
    return write_failure("cannot-continue-result", "the result '" + path_ + "' cannot be continued: " + why,
                         "run the model again from the start");
  };
  // What is there is read as any result: everything in it is checked.
  MemoryTrajectory there = [&] {
    try {
      std::vector<std::string> times;
      for (const Table& table : tables) times.push_back(table.name + "/time");
      return read_trajectory(path_, {times});
    } catch (const Failure& failure) {
      throw refuse(failure.problems().front().message);
    }
  }();

  auto file = std::make_unique<File>();
  file->path = path_;
  file->place = PendingFile::resolve(path_);
  file->options = options_;
  file->description = tables;
  file->provenance = there.provenance();
  file->tables.resize(tables.size());
  if (!file->open_file(file->place)) throw refuse(hdf5_reason());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const auto table = there.find_table(tables[t].name);
    if (!table || there.rows(*table) < rows[t]) {
      throw refuse("table '" + tables[t].name + "' holds " + std::to_string(table ? there.rows(*table) : 0) +
                   " rows, and there were " + std::to_string(rows[t]) + " when the checkpoint was written");
    }
    StreamedTable& stream = file->tables[t];
    if (!read_layout(stream) || stream.columns != tables[t].signals.size())
      throw refuse("table '" + tables[t].name + "' has other columns than the model's");
  }
  // Rows behind those of the checkpoint are forgotten, and the run goes on, in a file that is made to be written to.
  if (!file->write_anew(rows, true, 0, [](std::int64_t) { return true; })) throw refuse(hdf5_reason());
  file->close_file();
  if (!file->open_file(file->place)) throw refuse(hdf5_reason());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    StreamedTable& stream = file->tables[t];
    if (!read_layout(stream)) throw refuse(hdf5_reason());
    stream.buffer.resize(stream.chunk_rows * stream.columns);
    stream.filled = stream.saved = rows[t] % stream.chunk_rows;
    stream.before = rows[t] - stream.filled;
    if (!transfer_rows(stream.data, stream.before, stream.filled, stream.columns, stream.buffer.data(), false))
      throw refuse(hdf5_reason());
  }
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
