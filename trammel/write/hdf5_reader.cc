// Reads the HDF5 file of a run; layout in hdf5_writer.h. Every size found in the file is checked before it is used.
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

#include "trammel/write/hdf5_handles.h"
#include "trammel/write/output_path.h"
#include "trammel/write/read_trajectory.h"
#include "trammel/write/sha256.h"

namespace trammel {

namespace {

Failure damaged_result(const std::string& path, const std::string& why) {
  return read_failure("damaged-result", "the result '" + path + "' is damaged: " + why,
                      "copy it again from where it was made, or run the model again");
}

// Sizes of a dataset, empty if it is missing or has another number of dimensions.
std::vector<hsize_t> dataset_sizes(const Hdf5Handle& set, int dimensions) {
  const Hdf5Handle space(set ? H5Dget_space(set.id()) : -1, H5Sclose);
  if (!space || H5Sget_simple_extent_ndims(space.id()) != dimensions) return {};
  std::vector<hsize_t> sizes(static_cast<std::size_t>(dimensions));
  if (H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr) < 0) return {};
  return sizes;
}

bool has_checksums(const Hdf5Handle& data) {
  const Hdf5Handle creation(H5Dget_create_plist(data.id()), H5Pclose);
  for (int i = 0; creation && i < H5Pget_nfilters(creation.id()); ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    if (H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config) ==
        H5Z_FILTER_FLETCHER32)
      return true;
  }
  return false;
}

// HDF5's index of chunks has no checksum. A chunk that it does not lead to is read as if nothing had been written to
// it, one whose mask says so without a look at its checksum: both are found here.
bool has_all_chunks(const Hdf5Handle& data, const std::vector<hsize_t>& sizes) {
  const Hdf5Handle creation(H5Dget_create_plist(data.id()), H5Pclose);
  std::vector<hsize_t> chunk(sizes.size()), at(sizes.size(), 0);
  if (!creation || H5Pget_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data()) < 0) return false;
  if (std::count(sizes.begin(), sizes.end(), hsize_t{0}) + std::count(chunk.begin(), chunk.end(), hsize_t{0}) > 0)
    return true;
  for (;;) {
    unsigned mask = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t size = 0;
    if (H5Dget_chunk_info_by_coord(data.id(), at.data(), &mask, &address, &size) < 0 || address == HADDR_UNDEF ||
        mask != 0)
      return false;
    std::size_t axis = sizes.size();
    while (axis > 0 && (at[axis - 1] += chunk[axis - 1]) >= sizes[axis - 1]) at[--axis] = 0;
    if (axis == 0) return true;
  }
}

bool read_strings(std::int64_t group, const char* name, std::vector<std::string>& strings) {
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return false;
  const Hdf5Handle set(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
  const auto sizes = dataset_sizes(set, 1);
  if (sizes.empty()) return false;
  const Hdf5Handle type(H5Dget_type(set.id()), H5Tclose);
  const std::size_t length = type ? hdf5_text_length(type.id()) : 0;
  if (length == 0 || sizes[0] > (std::size_t{1} << 30) / length) return false;
  std::string packed(length * sizes[0], '\0');
  std::string sum;
  if (H5Dread(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()) < 0 ||
      (hdf5_read_text_attribute(set.id(), "sha256", sum) && sum != sha256_hex(packed)))
    return false;
  strings.clear();
  for (std::size_t i = 0; i < sizes[0]; ++i) {
    std::string text = packed.substr(i * length, length);
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    strings.push_back(std::move(text));
  }
  return true;
}

bool read_text_dataset(std::int64_t file, const char* name, std::string& text) {
  text.clear();
  if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return true;
  const Hdf5Handle set(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
  const Hdf5Handle type(set ? H5Dget_type(set.id()) : -1, H5Tclose);
  const Hdf5Handle space(set ? H5Dget_space(set.id()) : -1, H5Sclose);
  if (!type || !space || H5Sget_simple_extent_npoints(space.id()) != 1) return false;
  const std::size_t length = hdf5_text_length(type.id());
  if (length == 0) return false;
  text.assign(length, '\0');
  if (H5Dread(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0) return false;
  text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
  std::string sum;
  return !hdf5_read_text_attribute(set.id(), "sha256", sum) || sum == sha256_hex(text);
}

herr_t collect_attribute_name(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

Provenance read_provenance(const std::string& path, std::int64_t file) {
  Provenance provenance;
  const Failure damaged = damaged_result(path, "its provenance cannot be read");
  if (H5Lexists(file, "provenance", H5P_DEFAULT) <= 0) throw damaged;
  const Hdf5Handle group(H5Gopen2(file, "provenance", H5P_DEFAULT), H5Gclose);
  std::vector<std::string> names;
  hsize_t position = 0;
  if (!group ||
      H5Aiterate2(group.id(), H5_INDEX_CRT_ORDER, H5_ITER_INC, &position, collect_attribute_name, &names) < 0) {
    throw damaged;
  }
  for (const std::string& name : names) {
    std::string value;
    if (!hdf5_read_text_attribute(group.id(), name.c_str(), value)) throw damaged;
    provenance.set(name, value);
  }
  return provenance;
}

struct StoredTable {
  Table table;
  Hdf5Handle data;
  std::size_t rows = 0;
  std::size_t band = 1;  // rows of a chunk
};

StoredTable open_table(const std::string& path, std::int64_t file, const std::string& name) {
  StoredTable stored;
  stored.table.name = name;
  const std::string part = "table '" + name + "'";
  if (H5Lexists(file, name.c_str(), H5P_DEFAULT) <= 0) throw damaged_result(path, part + " is missing");
  const Hdf5Handle group(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose);
  if (!group) throw damaged_result(path, part + ": " + hdf5_reason());
  if (!hdf5_read_text_attribute(group.id(), "text", stored.table.text))
    throw damaged_result(path, part + ": its description cannot be read");

  std::vector<std::string> names, units, frames, texts, flags;
  if (!read_strings(group.id(), "names", names) || !read_strings(group.id(), "units", units) ||
      !read_strings(group.id(), "frames", frames) || !read_strings(group.id(), "text", texts) ||
      !read_strings(group.id(), "flags", flags)) {
    throw damaged_result(path, part + ": its names and units cannot be read");
  }
  const std::size_t columns = names.size();
  if (units.size() != columns || frames.size() != columns || texts.size() != columns || flags.size() != columns) {
    throw damaged_result(path, part + ": names, units and texts differ in number");
  }
  for (std::size_t i = 0; i < columns; ++i) {
    const bool flagged = !flags[i].empty();
    stored.table.signals.push_back(
        Signal{names[i], units[i], frames[i], texts[i], flagged, flags[i] == "flagged" ? "" : flags[i]});
  }

  if (H5Lexists(group.id(), "data", H5P_DEFAULT) > 0) {
    stored.data = Hdf5Handle(H5Dopen2(group.id(), "data", H5P_DEFAULT), H5Dclose);
  }
  const auto sizes = dataset_sizes(stored.data, 2);
  if (sizes.empty() || sizes[1] != columns || columns == 0) {
    throw damaged_result(path, part + ": its data do not fit its names");
  }
  const Hdf5Handle type(H5Dget_type(stored.data.id()), H5Tclose);
  if (!type || H5Tget_class(type.id()) != H5T_FLOAT) throw damaged_result(path, part + ": its data are not numbers");
  stored.rows = sizes[0];
  const Hdf5Handle creation(H5Dget_create_plist(stored.data.id()), H5Pclose);
  std::array<hsize_t, 2> chunk{};
  if (creation && H5Pget_layout(creation.id()) == H5D_CHUNKED && H5Pget_chunk(creation.id(), 2, chunk.data()) == 2) {
    stored.band = std::max<std::size_t>(1, chunk[0]);
  }
  return stored;
}

// Reads the columns of rows [first, first + count) into `values`, row after row.
bool read_band(const StoredTable& stored, const std::vector<std::size_t>& columns, std::size_t first, std::size_t count,
               std::vector<double>& values) {
  values.resize(count * columns.size());
  const std::array<hsize_t, 2> memory_size{count, columns.size()};
  const Hdf5Handle source(H5Dget_space(stored.data.id()), H5Sclose);
  const Hdf5Handle target(H5Screate_simple(2, memory_size.data(), nullptr), H5Sclose);
  if (!source || !target) return false;
  for (std::size_t i = 0; i < columns.size();) {  // neighbouring columns together
    std::size_t end = i + 1;
    while (end < columns.size() && columns[end] == columns[end - 1] + 1) ++end;
    const std::array<hsize_t, 2> from{first, columns[i]}, to{0, i}, size{count, end - i};
    if (H5Sselect_hyperslab(source.id(), H5S_SELECT_SET, from.data(), nullptr, size.data(), nullptr) < 0 ||
        H5Sselect_hyperslab(target.id(), H5S_SELECT_SET, to.data(), nullptr, size.data(), nullptr) < 0 ||
        H5Dread(stored.data.id(), H5T_NATIVE_DOUBLE, target.id(), source.id(), H5P_DEFAULT, values.data()) < 0) {
      return false;
    }
    i = end;
  }
  return true;
}

Hdf5Handle open_result(const std::string& path) {
  Hdf5Handle file = hdf5_open_readonly(path);
  if (!file) {
    const std::string reason = hdf5_reason();
    if (reason.find("truncated") != std::string::npos) {
      throw damaged_result(path, "it is truncated, the end of the file is missing");
    }
    throw damaged_result(path, reason);
  }
  return file;
}

// 0 if the file does not say it.
int read_format_version(std::int64_t file) {
  if (H5Aexists(file, "format_version") <= 0) return 0;
  const Hdf5Handle attribute(H5Aopen(file, "format_version", H5P_DEFAULT), H5Aclose);
  const Hdf5Handle space(attribute ? H5Aget_space(attribute.id()) : -1, H5Sclose);
  int version = 0;
  if (!space || H5Sget_simple_extent_npoints(space.id()) != 1 ||
      H5Aread(attribute.id(), H5T_NATIVE_INT, &version) < 0) {
    return 0;
  }
  return version;
}

struct ResultHead {
  RunStatus status;
  std::string tables;  // names with commas between
};

ResultHead read_head(const std::string& path, std::int64_t file) {
  std::string format, status_text, table_names;
  const bool named = hdf5_read_text_attribute(file, "format", format);
  if (named && format == hdf5_matrices_name) {
    throw read_failure("not-a-result", "'" + path + "' holds matrices or modes of an analysis, nothing over time",
                       "`trammel modes MODEL --page FILE` shows modes in motion");
  }
  if (!named || format != hdf5_format_name) {
    throw read_failure("not-a-result", "'" + path + "' is an HDF5 file, but not a result of Trammel",
                       "results are the .h5 files that 'trammel run' writes");
  }
  const int version = read_format_version(file);
  if (version > hdf5_format_version) {
    throw read_failure("newer-result",
                       "the result '" + path + "' has format version " + std::to_string(version) +
                           ", this program reads up to " + std::to_string(hdf5_format_version),
                       "use the Trammel that wrote it, or a newer one");
  }
  if (version < 1 || !hdf5_read_text_attribute(file, "status", status_text) ||
      !hdf5_read_text_attribute(file, "tables", table_names)) {
    throw damaged_result(path, "its description cannot be read");
  }
  const auto status = run_status(status_text);
  if (!status) throw damaged_result(path, "unknown status '" + status_text + "'");
  return {*status, table_names};
}

std::vector<StoredTable> open_tables(const std::string& path, std::int64_t file, const std::string& names) {
  std::vector<StoredTable> stored;
  std::vector<Table> tables;
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t comma = std::min(names.find(',', begin), names.size());
    stored.push_back(open_table(path, file, names.substr(begin, comma - begin)));
    tables.push_back(stored.back().table);
    begin = comma + 1;
  }
  try {
    check_tables(tables);
  } catch (const Failure& failure) {
    throw damaged_result(path, failure.problems().front().message);
  }
  return stored;
}

// A table of the file of which some columns are wanted.
struct WantedTable {
  const StoredTable& stored;
  std::vector<std::size_t> columns;
};

std::vector<WantedTable> choose_tables(const std::vector<StoredTable>& stored, const TrajectoryReadOptions& options) {
  std::vector<Table> tables;
  for (const StoredTable& each : stored) tables.push_back(each.table);
  const auto columns = wanted_columns(tables, options);
  std::vector<WantedTable> wanted;
  for (std::size_t t = 0; t < stored.size(); ++t) {
    if (!columns[t].empty()) wanted.push_back({stored[t], columns[t]});
  }
  return wanted;
}

Table table_of(const WantedTable& wanted) {
  const Table& whole = wanted.stored.table;
  Table table{whole.name, whole.text, {}};
  for (const std::size_t c : wanted.columns) table.signals.push_back(whole.signals[c]);
  return table;
}

// Reads the rows of one table after the other into a trajectory that has begun with these tables.
class RowReader {
 public:
  RowReader(const std::string& path, RunStatus status, MemoryTrajectory& trajectory)
      : path_(path), status_(status), trajectory_(trajectory) {}
  // False: the run was killed before it had written all rows.
  bool read(std::size_t k, const WantedTable& wanted);

 private:
  bool append_band(std::size_t k, const WantedTable& wanted, bool whole);
  Failure damaged(const WantedTable& wanted, const std::string& why) const {
    return damaged_result(path_, "table '" + wanted.stored.table.name + "'" + why);
  }

  const std::string& path_;
  RunStatus status_;
  MemoryTrajectory& trajectory_;
  std::vector<double> band_;
};

bool RowReader::read(std::size_t k, const WantedTable& wanted) {
  const StoredTable& source = wanted.stored;
  trajectory_.reserve(k, source.rows);
  // A finished result carries checksums, and has no room that was not filled.
  const bool whole = has_checksums(source.data);
  if (whole && !has_all_chunks(source.data, {source.rows, source.table.signals.size()}))
    throw damaged(wanted, ": a part of its data is missing");
  for (std::size_t first = 0; first < source.rows; first += source.band) {
    const std::size_t count = std::min(source.band, source.rows - first);
    if (!read_band(source, wanted.columns, first, count, band_)) {
      const std::string reason = hdf5_reason();
      // A run killed in the middle of a flush may leave its very last rows behind; anything else is damage.
      if (status_ != RunStatus::running) throw damaged(wanted, ": " + reason);
      return false;
    }
    if (!append_band(k, wanted, whole)) break;
  }
  return true;
}

// False: room that was not filled, where the rows end.
bool RowReader::append_band(std::size_t k, const WantedTable& wanted, bool whole) {
  const std::size_t width = wanted.columns.size();
  for (std::size_t at = 0; at < band_.size(); at += width) {
    if (std::isnan(band_[at])) {
      if (status_ != RunStatus::running && whole) throw damaged(wanted, ": rows are missing");
      return false;
    }
    if (!trajectory_.append(k, std::span<const double>(band_).subspan(at, width)))
      throw damaged(wanted, " cannot be kept");
  }
  return true;
}

void finish_reading(const std::string& path, std::int64_t file, RunStatus status, MemoryTrajectory& trajectory) {
  std::string summary, failure;
  if (!read_text_dataset(file, "summary", summary) || !read_text_dataset(file, "failure", failure)) {
    throw damaged_result(path, "its summary cannot be read");
  }
  trajectory.finish(status, summary, failure);
}

Problem incomplete_result(const std::string& path, const StoredTable& source, std::size_t rows) {
  return {Severity::note,
          "incomplete-result",
          "the result '" + path + "', table '" + source.table.name + "': only " + std::to_string(rows) + " of " +
              std::to_string(source.rows) + " rows were written before the run stopped",
          "",
          {}};
}

}  // namespace

MemoryTrajectory read_hdf5_head(const std::string& path) {
  const Hdf5Scope scope;
  const Hdf5Handle file = open_result(path);
  const ResultHead head = read_head(path, file.id());
  std::vector<Table> tables;
  for (const StoredTable& stored : open_tables(path, file.id(), head.tables)) tables.push_back(stored.table);
  MemoryTrajectory trajectory;
  trajectory.begin(tables, read_provenance(path, file.id()));
  finish_reading(path, file.id(), head.status, trajectory);
  return trajectory;
}

MemoryTrajectory read_hdf5_trajectory(const std::string& path, const TrajectoryReadOptions& options,
                                      std::vector<Problem>* notes) {
  const Hdf5Scope scope;
  const Hdf5Handle file = open_result(path);
  const ResultHead head = read_head(path, file.id());
  const std::vector<StoredTable> stored = open_tables(path, file.id(), head.tables);
  const std::vector<WantedTable> wanted = choose_tables(stored, options);
  std::vector<Table> tables;
  for (const WantedTable& each : wanted) tables.push_back(table_of(each));

  MemoryTrajectory trajectory;
  trajectory.begin(tables, read_provenance(path, file.id()));
  RowReader reader(path, head.status, trajectory);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const StoredTable& source = wanted[k].stored;
    try {
      if (!reader.read(k, wanted[k]) && notes != nullptr)
        notes->push_back(incomplete_result(path, source, trajectory.rows(k)));
    } catch (const std::bad_alloc&) {
      throw read_failure("too-large", "the result '" + path + "' does not fit into memory",
                         "ask for some of its signals only");
    } catch (const std::length_error&) {
      throw damaged_result(path, "table '" + source.table.name + "' has an impossible size");
    }
  }
  finish_reading(path, file.id(), head.status, trajectory);
  return trajectory;
}

}  // namespace trammel
