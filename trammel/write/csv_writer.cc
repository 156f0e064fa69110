// The CSV files of a run; layout in csv_writer.h.
#include "trammel/write/csv_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "trammel/write/output_path.h"

namespace trammel {

std::string csv_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out;
}

std::string csv_unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      const char c = text[++i];
      out += c == 'n' ? '\n' : c == 'r' ? '\r' : c;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string csv_field(std::string_view text) {
  // A leading '#' would make the header a comment.
  const bool plain = text.find_first_of(",\"") == std::string_view::npos && (text.empty() || text.front() != '#');
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

bool csv_split(std::string_view record, std::vector<std::string>& fields) {
  fields.assign(1, "");
  bool quoted = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (quoted && c == '"' && i + 1 < record.size() && record[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"' && (quoted || fields.back().empty())) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return !quoted;
}

namespace {
constexpr std::size_t csv_number_size = 26;  // "-2.2250738585072014e-308," and room to spare
}  // namespace

// One file: a descriptor and a buffer that is emptied when the next row might not fit.
struct CsvStream {
  std::string path;
  int fd = -1;
  std::size_t columns = 0;
  std::vector<char> buffer;
  std::size_t used = 0;
  std::string error;

  // A folder that was removed takes its files along, and writing to them goes on without an error.
  void look_after() {
    struct stat ours {};
    struct stat named {};
    if (!error.empty() || fd < 0 || fstat(fd, &ours) != 0 || !S_ISREG(ours.st_mode)) return;
    if (stat(path.c_str(), &named) != 0) {
      error = "the file is gone: it or its folder was removed during the run";
    } else if (ours.st_dev != named.st_dev || ours.st_ino != named.st_ino) {
      error = "the file was replaced by another one during the run";
    }
  }

  void drain() {
    std::size_t done = 0;
    while (done < used && error.empty()) {
      const ssize_t count = write(fd, buffer.data() + done, used - done);
      if (count > 0) {
        done += static_cast<std::size_t>(count);
      } else if (count < 0 && errno != EINTR) {
        error = std::strerror(errno);
      }
    }
    used = 0;
  }

  void put(std::string_view text) {
    while (!text.empty() && error.empty()) {
      if (used == buffer.size()) drain();
      const std::size_t count = std::min(text.size(), buffer.size() - used);
      std::copy_n(text.begin(), count, buffer.begin() + static_cast<std::ptrdiff_t>(used));
      used += count;
      text.remove_prefix(count);
    }
  }

  void put_row(std::span<const double> row) {
    if (buffer.size() - used < row.size() * csv_number_size) drain();
    char* out = buffer.data() + used;
    for (const double value : row) {
      if (std::isnan(value)) {
        out = std::copy_n("nan", 3, out);
      } else {
        out = std::to_chars(out, out + csv_number_size, value).ptr;
      }
      *out++ = ',';
    }
    out[-1] = '\n';
    used = static_cast<std::size_t>(out - buffer.data());
  }
};

namespace {

// The line of names.
std::string name_line(const std::vector<Signal>& signals) {
  std::string line;
  for (std::size_t i = 0; i < signals.size(); ++i) line += (i > 0 ? "," : "") + csv_field(signals[i].name);
  return line;
}

template <typename Get>
void put_list(CsvStream& stream, const char* key, const std::vector<Signal>& signals, Get get) {
  stream.put(key);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (i > 0) stream.put(",");
    stream.put(csv_field(get(signals[i])));
  }
  stream.put("\n");
}

}  // namespace

struct CsvWriter::Files {
  std::vector<CsvStream> streams;
  std::size_t tables = 0;  // of the run; streams may be fewer
  std::chrono::steady_clock::time_point last_flush = std::chrono::steady_clock::now();
  bool open = true;
  bool misfit = false;
  bool reported = false;

  ~Files() {
    for (const CsvStream& stream : streams) {
      if (stream.fd >= 0) ::close(stream.fd);
    }
  }

  bool fine() const {
    return !misfit && std::all_of(streams.begin(), streams.end(), [](const CsvStream& s) { return s.error.empty(); });
  }

  void drain_all() {
    last_flush = std::chrono::steady_clock::now();
    for (CsvStream& stream : streams) {
      stream.look_after();
      stream.drain();
    }
  }

  void close_with(RunStatus status, std::string_view summary_json, std::string_view failure_json) {
    for (CsvStream& stream : streams) {
      stream.look_after();
      stream.put("# status: " + std::string(to_text(status)) + "\n");
      if (!summary_json.empty()) stream.put("# summary: " + csv_escape(summary_json) + "\n");
      if (!failure_json.empty()) stream.put("# failure: " + csv_escape(failure_json) + "\n");
      stream.drain();
      // Some filesystems tell only here that the data did not fit.
      if (stream.fd >= 0 && ::close(stream.fd) != 0 && stream.error.empty()) stream.error = std::strerror(errno);
      stream.fd = -1;
    }
    open = false;
  }

  void report() {
    if (fine() || reported) return;
    reported = true;
    if (misfit) {
      throw Failure(Problem{Severity::error, "write-failed", "writing CSV: a row does not fit its table", "", {}},
                    ExitCode::internal);
    }
    for (const CsvStream& stream : streams) {
      if (stream.error.empty()) continue;
      const std::string why = output_folder_exists(stream.path)
                                  ? stream.error
                                  : "the file is gone: it or its folder was removed during the run";
      throw write_failure("write-failed", "writing the result '" + stream.path + "' failed: " + why,
                          "rows written before are kept; make room on the disk or choose another place with --csv");
    }
  }
};

CsvWriter::CsvWriter(std::string path, double flush_seconds) : path_(std::move(path)), flush_seconds_(flush_seconds) {
  check_output_path(path_);
}

CsvWriter::~CsvWriter() {
  if (files_ && files_->open) files_->close_with(RunStatus::failed, {}, {});
}

std::string CsvWriter::path_of_table(const std::string& path, const std::string& table) {
  std::filesystem::path file(path);
  const std::string extension = file.extension().string();
  return file.replace_extension("." + table + extension).string();
}

void CsvWriter::begin(const std::vector<Table>& tables, const Provenance& provenance) {
  check_tables(tables);
  auto files = std::make_unique<Files>();
  files->tables = tables.size();
  std::string table_names;
  for (const Table& table : tables) table_names += (table_names.empty() ? "" : ",") + table.name;

  struct stat info {};
  const bool special = stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  const std::size_t count = special ? std::min<std::size_t>(1, tables.size()) : tables.size();

  std::vector<std::unique_ptr<PendingFile>> pending;
  for (std::size_t t = 0; t < count; ++t) {
    const Table& table = tables[t];
    CsvStream& stream = files->streams.emplace_back();
    stream.path = t == 0 ? path_ : path_of_table(path_, table.name);
    stream.columns = table.signals.size();
    stream.buffer.resize(std::max<std::size_t>(1 << 16, 2 * stream.columns * csv_number_size));
    pending.push_back(std::make_unique<PendingFile>(stream.path));
    stream.fd = open(pending.back()->path().c_str(), O_WRONLY | O_CLOEXEC);
    if (stream.fd < 0) {
      throw write_failure("cannot-write", "cannot write the result '" + stream.path + "': " + std::strerror(errno));
    }
    stream.put(std::string(csv_magic) + "1\n# table: " + table.name + "\n");
    if (t == 0 && count > 1) stream.put("# tables: " + table_names + "\n");
    if (!table.text.empty()) stream.put("# about: " + csv_escape(table.text) + "\n");
    for (const auto& entry : provenance.entries) {
      stream.put("# provenance." + csv_escape(entry.first) + ": " + csv_escape(entry.second) + "\n");
    }
    const auto& signals = table.signals;
    put_list(stream, "# unit: ", signals, [](const Signal& s) { return csv_escape(s.unit); });
    put_list(stream, "# frame: ", signals, [](const Signal& s) { return csv_escape(s.frame); });
    put_list(stream, "# text: ", signals, [](const Signal& s) { return csv_escape(s.text); });
    put_list(stream, "# flag: ", signals, [](const Signal& s) {
      return csv_escape(!s.flagged ? "" : s.flag_text.empty() ? "flagged" : s.flag_text);
    });
    put_list(stream, "", signals, [](const Signal& s) { return s.name; });
    stream.drain();
    if (!stream.error.empty()) {
      throw write_failure("cannot-write", "cannot write the result '" + stream.path + "': " + stream.error);
    }
  }
  for (const auto& file : pending) file->publish();
  files_ = std::move(files);
}

// The bytes up to the end of row `rows` go to a new file, which takes the place of the old one.
void CsvWriter::resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) {
  check_tables(tables);
  auto files = std::make_unique<Files>();
  files->tables = tables.size();
  std::vector<std::unique_ptr<PendingFile>> pending;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    CsvStream& stream = files->streams.emplace_back();
    stream.path = t == 0 ? path_ : path_of_table(path_, tables[t].name);
    const auto refuse = [&](const std::string& why) {
      return write_failure("cannot-continue-result", "the result '" + stream.path + "' cannot be continued: " + why,
                           "run the model again from the start");
    };
    stream.columns = tables[t].signals.size();
    stream.buffer.resize(std::max<std::size_t>(1 << 16, 2 * stream.columns * csv_number_size));
    std::ifstream old(stream.path, std::ios::binary);
    if (!old) throw refuse(std::strerror(errno));
    pending.push_back(std::make_unique<PendingFile>(stream.path));
    stream.fd = open(pending.back()->path().c_str(), O_WRONLY | O_CLOEXEC);
    if (stream.fd < 0) throw refuse(std::strerror(errno));
    const std::string header = name_line(tables[t].signals);
    std::string line;
    bool named = false;
    std::uint64_t kept = 0;
    while (kept < rows[t] || !named) {
      if (!std::getline(old, line) || old.eof()) {
        throw refuse("it holds " + std::to_string(kept) + " rows, and there were " + std::to_string(rows[t]) +
                     " when the checkpoint was written");
      }
      if (line.empty() || line.front() != '#') {
        if (named) ++kept;
        if (!named && line != header) throw refuse("its columns are not those of the model");
        named = true;
      }
      stream.put(line);
      stream.put("\n");
    }
    stream.drain();
    if (!stream.error.empty()) throw refuse(stream.error);
  }
  for (const auto& file : pending) file->publish();
  files_ = std::move(files);
}

bool CsvWriter::append(std::size_t table, std::span<const double> row) {
  if (!files_ || !files_->open || !files_->fine()) return false;
  if (table >= files_->streams.size()) {
    if (table < files_->tables) return true;  // a pipe takes the first table only
    files_->misfit = true;
    return false;
  }
  CsvStream& stream = files_->streams[table];
  if (row.size() != stream.columns) {
    files_->misfit = true;
    return false;
  }
  stream.put_row(row);
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - files_->last_flush;
  if (waited.count() >= flush_seconds_) files_->drain_all();
  return files_->fine();
}

void CsvWriter::flush() {
  if (!files_) return;
  if (files_->open) files_->drain_all();
  files_->report();
}

void CsvWriter::finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) {
  if (!files_) return;
  if (files_->open) files_->close_with(status, summary_json, failure_json);
  files_->report();
}

}  // namespace trammel
