// HDF5 results: round trips, streaming, killed runs, full disks, damaged files, h5py.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <csignal>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "tests/write/sample.h"
#include "trammel/write/hdf5_writer.h"
#include "trammel/write/read_trajectory.h"

// HDF5 loses some memory of its own over damaged files; the leak sanitizer must not blame the tests for it.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }  // NOLINT(bugprone-reserved-identifier)

namespace trammel::hdf5_test {
namespace {

using ::testing::HasSubstr;

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

class Hdf5 : public ::testing::Test {
 protected:
  sample::TemporaryFolder folder_;
  std::string path_ = folder_ / "run.h5";
};

TEST_F(Hdf5, RoundTripIsExact) {
  {
    Hdf5Writer writer(path_);
    sample::write_run(writer, 5000);  // several chunks of each table
  }
  std::vector<Problem> notes;
  const auto result = read_trajectory(path_, {}, &notes);
  sample::expect_description(result);
  sample::expect_rows(result, 0, 5000);
  sample::expect_rows(result, 1, 15000);
  EXPECT_EQ(result.status(), RunStatus::finished);
  EXPECT_EQ(result.summary_json(), R"({"steps": 12, "text": "a\nb"})");
  EXPECT_EQ(result.failure_json(), "");
  EXPECT_TRUE(notes.empty());
}

TEST_F(Hdf5, SizesAroundAChunk) {
  // 5 columns and 320 bytes: chunks of 8 rows
  for (const std::size_t rows : {0u, 1u, 7u, 8u, 9u, 16u, 17u}) {
    Hdf5Writer writer(path_, {.flush_seconds = 1e9, .chunk_bytes = 320});
    sample::write_run(writer, rows);
    sample::expect_rows(read_trajectory(path_), 0, rows);
  }
}

TEST_F(Hdf5, FlushAfterEveryRow) {
  Hdf5Writer writer(path_, {.flush_seconds = 0, .chunk_bytes = 320});
  sample::write_run(writer, 100);
  sample::expect_rows(read_trajectory(path_), 0, 100);
}

TEST_F(Hdf5, LongTexts) {
  Provenance provenance;
  provenance.set("model_text", std::string(200000, 'm'));
  for (int i = 0; i < 30; ++i) provenance.set("key_" + std::to_string(30 - i), std::to_string(i));
  Hdf5Writer writer(path_);
  writer.begin(sample::tables(), provenance);
  writer.finish(RunStatus::interrupted, std::string(300000, 's'), std::string(300000, 'f'));
  const auto result = read_trajectory(path_);
  EXPECT_EQ(result.provenance().entries, provenance.entries);
  EXPECT_EQ(result.status(), RunStatus::interrupted);
  EXPECT_EQ(result.summary_json(), std::string(300000, 's'));
  EXPECT_EQ(result.failure_json(), std::string(300000, 'f'));
}

TEST_F(Hdf5, FailedRunKeepsItsReport) {
  Hdf5Writer writer(path_);
  sample::write_run(writer, 3, RunStatus::failed);
  const auto result = read_trajectory(path_);
  EXPECT_EQ(result.status(), RunStatus::failed);
  EXPECT_EQ(result.failure_json(), R"({"id": "step-failed"})");
  sample::expect_rows(result, 0, 3);
}

TEST_F(Hdf5, AbandonedWriterSaysFailed) {
  {
    Hdf5Writer writer(path_);
    writer.begin(sample::tables(), {});
    sample::append_rows(writer, 0, 5, 0, 4);
  }
  const auto result = read_trajectory(path_);
  EXPECT_EQ(result.status(), RunStatus::failed);
  sample::expect_rows(result, 0, 4);
}

TEST_F(Hdf5, WideTables) {
  std::vector<Table> tables(1);
  tables[0].name = "output";
  for (int i = 0; i < 3000; ++i) {
    const std::string name = i == 0 ? "time" : "body.link_" + std::to_string(i) + ".position.x";
    tables[0].signals.push_back({name, "m", "world", "", false, ""});
  }
  Hdf5Writer writer(path_);
  writer.begin(tables, {});
  sample::append_rows(writer, 0, 3000, 0, 13);
  writer.finish(RunStatus::finished, "", "");
  sample::expect_rows(read_trajectory(path_), 0, 13);
  EXPECT_LT(std::filesystem::file_size(path_), 1000000u);

  // and some columns of it only
  const auto some = read_trajectory(path_, {{"body.link_7.position.x", "body.link_29?8.position.x"}});
  ASSERT_EQ(some.tables()[0].signals.size(), 12u);
  EXPECT_EQ(some.tables()[0].signals[0].name, "time");
  EXPECT_TRUE(sample::same(some.column("body.link_2958.position.x")[12], sample::row(3000, 12)[2958]));
  EXPECT_TRUE(sample::same(some.column("body.link_7.position.x")[3], sample::row(3000, 3)[7]));
  EXPECT_TRUE(sample::same(some.time(0)[5], sample::row(3000, 5)[0]));
}

TEST_F(Hdf5, LargeFinishedTablesLieInNarrowChunks) {
  constexpr std::size_t columns = 300, rows = 2001;
  std::vector<Table> tables(1);
  tables[0].name = "output";
  for (std::size_t i = 0; i < columns; ++i)
    tables[0].signals.push_back({i == 0 ? "time" : "x" + std::to_string(i), "m", "", "", false, ""});
  {
    Hdf5Writer writer(path_);
    writer.begin(tables, {});
    sample::append_rows(writer, 0, columns, 0, rows);
    writer.finish(RunStatus::finished, "", "");
  }
  hsize_t chunk[2] = {0, 0};
  {
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
                data = H5Dopen2(file, "output/data", H5P_DEFAULT), creation = H5Dget_create_plist(data);
    H5Pget_chunk(creation, 2, chunk);
    H5Pclose(creation);
    H5Dclose(data);
    H5Fclose(file);
  }
  EXPECT_EQ(chunk[1], 3u);  // 300 / 128, rounded up
  EXPECT_LT(std::filesystem::file_size(path_), 1.05 * columns * rows * sizeof(double));
  sample::expect_rows(read_trajectory(path_), 0, rows);
  EXPECT_EQ(read_hdf5_head(path_).tables()[0].signals.size(), columns);
  EXPECT_EQ(read_hdf5_head(path_).rows(0), 0u);

  // and can be taken up again
  Hdf5Writer writer(path_);
  writer.resume(tables, {1500});
  sample::append_rows(writer, 0, columns, 1500, rows);
  writer.finish(RunStatus::finished, "", "");
  sample::expect_rows(read_trajectory(path_), 0, rows);
}

TEST_F(Hdf5, SelectionLeavesOtherTablesOut) {
  Hdf5Writer writer(path_);
  sample::write_run(writer, 10);
  const auto some = read_trajectory(path_, {{"solver.*"}});
  ASSERT_EQ(some.tables().size(), 1u);
  EXPECT_EQ(some.tables()[0].name, "steps");
  sample::expect_rows(some, 0, 30);
  const auto text = sample::expect_failure([&] { read_trajectory(path_, {{"solver.step_sise"}}); }, "unknown-signal",
                                           ExitCode::bad_usage);
  EXPECT_THAT(text, HasSubstr("solver.step_size"));
}

TEST_F(Hdf5, SecondReaderSeesFlushedRows) {
  Hdf5Writer writer(path_, {.flush_seconds = 1e9, .chunk_bytes = 320});
  writer.begin(sample::tables(), sample::provenance());
  std::size_t done = 0;
  for (const std::size_t rows : {3u, 11u, 30u}) {
    sample::append_rows(writer, 0, 5, done, rows);
    done = rows;
    writer.flush();
    const std::string copy = folder_ / "copy.h5";  // what is on the disk, not what the library has in memory
    write_bytes(copy, read_bytes(path_));
    const auto result = read_trajectory(copy);
    EXPECT_EQ(result.status(), RunStatus::running);
    sample::expect_description(result);
    sample::expect_rows(result, 0, rows);
    sample::expect_rows(read_trajectory(path_), 0, rows);  // in the same process, beside the writer
  }
}

// Runs `body` in a process that is killed as soon as it has written one byte to the pipe it is given.
template <typename Body>
void run_and_kill(Body&& body) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      body(ends[1]);
    } catch (...) {
    }
    _exit(9);
  }
  close(ends[1]);
  char ready = 0;
  EXPECT_EQ(read(ends[0], &ready, 1), 1);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  close(ends[0]);
}

TEST_F(Hdf5, KilledRunIsReadableUpToItsLastFlush) {
  run_and_kill([&](int ready) {
    Hdf5Writer writer(path_, {.flush_seconds = 1e9, .chunk_bytes = 320});
    writer.begin(sample::tables(), sample::provenance());
    sample::append_rows(writer, 0, 5, 0, 21);
    sample::append_rows(writer, 1, 3, 0, 50);
    writer.flush();
    sample::append_rows(writer, 0, 5, 21, 60);  // on their way when the process dies
    if (write(ready, "x", 1) == 1) pause();
  });
  const auto result = read_trajectory(path_);
  EXPECT_EQ(result.status(), RunStatus::running);
  sample::expect_description(result);
  EXPECT_GE(result.rows(0), 21u);
  sample::expect_rows(result, 0, result.rows(0));
  sample::expect_rows(result, 1, 50);

  Hdf5Writer again(path_);  // and the next run may take its place
  sample::write_run(again, 2);
  sample::expect_rows(read_trajectory(path_), 0, 2);
}

// Growing tables are copied and take the old file's place; kills come while that happens.
TEST_F(Hdf5, KilledAnywhereLosesNoFlushedRow) {
  for (int attempt = 0; attempt < 12; ++attempt) {
    const std::string seen = folder_ / "seen";
    run_and_kill([&](int ready) {
      Hdf5Writer writer(path_, {.flush_seconds = 1e9, .chunk_bytes = 320});
      writer.begin(sample::tables(), sample::provenance());
      const int counter = open(seen.c_str(), O_RDWR | O_CREAT, 0600);
      for (std::size_t i = 0;; ++i) {
        if (!writer.append(0, sample::row(5, i)) || !writer.append(1, sample::row(3, i))) _exit(3);
        writer.flush();
        const std::uint64_t done = i + 1;
        if (pwrite(counter, &done, sizeof done, 0) != sizeof done) _exit(5);
        if (i == 40 + 11 * static_cast<std::size_t>(attempt) && write(ready, "x", 1) != 1) _exit(4);
      }
    });
    std::uint64_t flushed = 0;
    const std::string bytes = read_bytes(seen);
    ASSERT_EQ(bytes.size(), sizeof flushed);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&flushed));
    const auto result = read_trajectory(path_);
    EXPECT_GE(result.rows(0), flushed);
    EXPECT_GE(result.rows(1), flushed);
    sample::expect_rows(result, 0, result.rows(0));
    sample::expect_rows(result, 1, result.rows(1));
  }
}

TEST_F(Hdf5, GoesOnFromAnyRow) {
  for (const std::size_t kept : {0u, 1u, 7u, 8u, 50u, 99u}) {
    for (const bool finished : {false, true}) {
      {
        Hdf5Writer writer(path_, {.flush_seconds = 1e9, .chunk_bytes = 320});
        writer.begin(sample::tables(), sample::provenance());
        sample::append_rows(writer, 0, 5, 0, 100);
        sample::append_rows(writer, 1, 3, 0, 40);
        if (finished) writer.finish(RunStatus::interrupted, "{}", "{}");
      }
      Hdf5Writer writer(path_, {.flush_seconds = 1e9, .chunk_bytes = 320});
      writer.resume(sample::tables(), {kept, 40});
      auto result = read_trajectory(path_);
      EXPECT_EQ(result.status(), RunStatus::running);
      EXPECT_EQ(result.summary_json(), "");
      sample::expect_rows(result, 0, kept);
      sample::append_rows(writer, 0, 5, kept, 250);
      sample::append_rows(writer, 1, 3, 40, 60);
      writer.finish(RunStatus::finished, "{}", "");
      result = read_trajectory(path_);
      sample::expect_description(result);
      EXPECT_EQ(result.provenance().entries, sample::provenance().entries);
      sample::expect_rows(result, 0, 250);
      sample::expect_rows(result, 1, 60);
    }
  }
  Hdf5Writer writer(path_);
  const auto fewer = sample::expect_failure(
      [&] {
        writer.resume(sample::tables(), {251, 60});
      },
      "cannot-continue-result", ExitCode::cannot_write);
  EXPECT_THAT(fewer, HasSubstr("250 rows"));
}

TEST_F(Hdf5, FolderThatVanishes) {
  std::filesystem::create_directory(folder_ / "sub");
  Hdf5Writer writer(folder_ / "sub/run.h5");
  writer.begin(sample::tables(), {});
  sample::append_rows(writer, 0, 5, 0, 4);
  writer.flush();
  std::filesystem::remove_all(folder_ / "sub");
  sample::append_rows(writer, 0, 5, 4, 8);
  const auto text = sample::expect_failure([&] { writer.flush(); }, "write-failed", ExitCode::cannot_write);
  EXPECT_THAT(text, HasSubstr("folder was removed"));
  EXPECT_FALSE(writer.append(0, sample::row(5, 8)));
}

TEST_F(Hdf5, KilledAnywhereIsReadable) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    run_and_kill([&](int ready) {
      Hdf5Writer writer(path_, {.flush_seconds = 0, .chunk_bytes = 320});
      writer.begin(sample::tables(), sample::provenance());
      for (std::size_t i = 0;; ++i) {
        if (!writer.append(0, sample::row(5, i))) _exit(3);
        if (i == 30 + 7 * static_cast<std::size_t>(attempt) && write(ready, "x", 1) != 1) _exit(4);
      }
    });
    const auto result = read_trajectory(path_);
    EXPECT_GE(result.rows(0), 20u);
    sample::expect_rows(result, 0, result.rows(0));
  }
}

TEST_F(Hdf5, FullDiskIsReportedAndFlushedRowsStay) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{600000, 600000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int outcome = 1;
    try {
      Hdf5Writer writer(path_);
      writer.begin(sample::tables(), sample::provenance());
      for (std::size_t i = 0; i < 1000; ++i) {
        if (!writer.append(0, sample::row(5, i))) _exit(2);
      }
      writer.flush();
      bool refused = false;
      for (std::size_t i = 1000; i < 100000 && !refused; ++i) refused = !writer.append(0, sample::row(5, i));
      if (!refused) _exit(3);
      try {
        writer.flush();
        _exit(4);
      } catch (const Failure& failure) {
        if (failure.exit_code() != ExitCode::cannot_write) _exit(5);
      }
      writer.finish(RunStatus::failed, "{}", R"({"id": "write-failed"})");  // told once, not twice
      outcome = 0;
    } catch (...) {
      outcome = 6;
    }
    _exit(outcome);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const auto result = read_trajectory(path_);
  EXPECT_EQ(result.status(), RunStatus::failed);
  EXPECT_EQ(result.failure_json(), R"({"id": "write-failed"})");
  EXPECT_GE(result.rows(0), 1000u);
  sample::expect_rows(result, 0, result.rows(0));
}

TEST_F(Hdf5, RowsThatDoNotFitAreReported) {
  Hdf5Writer writer(path_);
  writer.begin(sample::tables(), {});
  EXPECT_FALSE(writer.append(0, std::vector<double>(4)));
  sample::expect_failure([&] { writer.flush(); }, "write-failed", ExitCode::internal);
}

TEST_F(Hdf5, UnwritablePlacesAreRefusedAtOnce) {
  const auto refused = [&](const std::string& path, const std::string& id = "cannot-write") {
    return sample::expect_failure([&] { Hdf5Writer writer(path); }, id, ExitCode::cannot_write);
  };
  EXPECT_THAT(refused(folder_ / "no/such/folder/run.h5"), HasSubstr("create the folder first"));
  EXPECT_THAT(refused(folder_.path().string()), HasSubstr("it is a folder"));
  refused("");
  write_bytes(folder_ / "model.yaml", "bodies: []\n");
  refused(folder_ / "model.yaml", "not-a-result");
  refused(folder_ / "model.yaml/run.h5");
  EXPECT_EQ(read_bytes(folder_ / "model.yaml"), "bodies: []\n");
  if (geteuid() != 0) {  // root may write everywhere
    std::filesystem::permissions(folder_.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    EXPECT_THAT(refused(folder_ / "run.h5"), HasSubstr("Permission denied"));
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Hdf5, OtherHdf5FilesAreLeftAlone) {
  const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  sample::expect_failure([&] { Hdf5Writer writer(path_); }, "not-a-result", ExitCode::cannot_write);
  sample::expect_failure([&] { read_trajectory(path_); }, "not-a-result", ExitCode::bad_usage);
}

TEST_F(Hdf5, FailingBeginKeepsTheEarlierResult) {
  {
    Hdf5Writer writer(path_);
    sample::write_run(writer, 5);
  }
  Hdf5Writer writer(path_);
  auto bad = sample::tables();
  bad[0].signals[0].name = "t";
  EXPECT_THROW(writer.begin(bad, {}), Failure);
  sample::expect_rows(read_trajectory(path_), 0, 5);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);  // nothing left beside it
}

TEST_F(Hdf5, LinksAreFollowed) {
  const std::string target = folder_ / "target.h5";
  write_bytes(target, "");
  std::filesystem::create_symlink(target, path_);
  Hdf5Writer writer(path_);
  sample::write_run(writer, 5);
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  sample::expect_rows(read_trajectory(target), 0, 5);
}

TEST_F(Hdf5, MissingAndForeignFiles) {
  const auto missing =
      sample::expect_failure([&] { read_trajectory(folder_ / "none.h5"); }, "cannot-read", ExitCode::bad_usage);
  EXPECT_THAT(missing, HasSubstr("No such file"));
  sample::expect_failure([&] { read_trajectory(folder_.path().string()); }, "cannot-read", ExitCode::bad_usage);
  write_bytes(path_, "");
  sample::expect_failure([&] { read_trajectory(path_); }, "not-a-result", ExitCode::bad_usage);
  write_bytes(path_, "hello");
  sample::expect_failure([&] { read_trajectory(path_); }, "not-a-result", ExitCode::bad_usage);
}

TEST_F(Hdf5, TruncatedFilesAreRefusedAtEveryLength) {
  {
    Hdf5Writer writer(path_);
    sample::write_run(writer, 300);
  }
  const std::string whole = read_bytes(path_);
  const std::string cut = folder_ / "cut.h5";
  for (std::size_t length = 1; length < whole.size(); length += 1 + whole.size() / 97) {
    write_bytes(cut, whole.substr(0, length));
    EXPECT_THROW(read_trajectory(cut), Failure) << length;
  }
  write_bytes(cut, whole.substr(0, whole.size() - 1));
  const auto text = sample::expect_failure([&] { read_trajectory(cut); }, "damaged-result", ExitCode::bad_usage);
  EXPECT_THAT(text, HasSubstr("truncated"));
}

TEST_F(Hdf5, DamagedFilesNeverCrash) {
  {
    Hdf5Writer writer(path_, {.flush_seconds = 1e9, .chunk_bytes = 320});
    sample::write_run(writer, 20);
  }
  const std::string whole = read_bytes(path_);
  const std::string bad = folder_ / "bad.h5";
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random() & 0xff);
    write_bytes(bad, bytes);
    try {
      read_trajectory(bad);
    } catch (const Failure&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

// Every bit of a finished result that matters is under a checksum, or its damage is noticed otherwise.
TEST_F(Hdf5, FlippedBitsAreReportedOrHarmless) {
  {
    Hdf5Writer writer(path_, {.flush_seconds = 1e9, .chunk_bytes = 320});
    sample::write_run(writer, 20);
  }
  const std::string whole = read_bytes(path_), bad = folder_ / "bad.h5";
  const MemoryTrajectory good = read_trajectory(path_);
  const auto same = [&](const MemoryTrajectory& other) {
    bool equal = other.tables().size() == good.tables().size() && other.status() == good.status() &&
                 other.summary_json() == good.summary_json() && other.failure_json() == good.failure_json() &&
                 other.provenance().entries == good.provenance().entries;
    for (std::size_t t = 0; equal && t < good.tables().size(); ++t) {
      equal = other.rows(t) == good.rows(t) && other.tables()[t].signals.size() == good.tables()[t].signals.size();
      for (std::size_t c = 0; equal && c < good.tables()[t].signals.size(); ++c) {
        const Signal &x = good.tables()[t].signals[c], &y = other.tables()[t].signals[c];
        equal = x.name == y.name && x.unit == y.unit && x.frame == y.frame && x.text == y.text &&
                x.flag_text == y.flag_text;
      }
      for (std::size_t i = 0; equal && i < good.rows(t); ++i) {
        const auto x = good.row(t, i), y = other.row(t, i);
        equal = x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
      }
    }
    return equal;
  };
  int reported = 0, harmless = 0;
  std::mt19937 random(2);
  for (std::size_t at = 0; at < whole.size(); at += 1 + random() % (1 + whole.size() / 300)) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << (random() % 8)));
    write_bytes(bad, bytes);
    try {
      EXPECT_TRUE(same(read_trajectory(bad)))
          << "byte " << at << " of " << whole.size() << ", \"" << whole.substr(at < 20 ? 0 : at - 20, 40) << '"';
      ++harmless;
    } catch (const Failure&) {
      ++reported;
    }
  }
  EXPECT_GT(reported, 10) << harmless << " harmless";
}

TEST_F(Hdf5, DamagedDataAreNamed) {
  {
    Hdf5Writer writer(path_);
    sample::write_run(writer, 300);
  }
  std::string bytes = read_bytes(path_);
  const double second = sample::row(5, 1)[0];
  std::string pattern(sizeof second, '\0');
  std::memcpy(pattern.data(), &second, sizeof second);
  const std::size_t at = bytes.find(pattern);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_bytes(path_, bytes);
  const auto text = sample::expect_failure([&] { read_trajectory(path_); }, "damaged-result", ExitCode::bad_usage);
  EXPECT_THAT(text, HasSubstr("table '"));
}

TEST_F(Hdf5, HdfErrorsArePrintedByNobody) {
  write_bytes(path_, "\x89HDF\r\n\x1a\n nonsense");
  ::testing::internal::CaptureStderr();
  sample::expect_failure([&] { read_trajectory(path_); }, "damaged-result", ExitCode::bad_usage);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(Hdf5, WritersInSeveralThreads) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Hdf5Writer writer(folder_ / (std::to_string(i) + ".h5"), {.flush_seconds = 0, .chunk_bytes = 320});
      sample::write_run(writer, 200);
    });
  }
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) sample::expect_rows(read_trajectory(folder_ / (std::to_string(i) + ".h5")), 0, 200);
}

// The layout is made for h5py; checked where that is installed.
TEST_F(Hdf5, ReadsInPython) {
  if (std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3-h5py is not installed";
  Hdf5Writer writer(path_);
  writer.begin(sample::tables(), sample::provenance());
  sample::append_rows(writer, 0, 5, 0, 10);
  writer.flush();
  const std::string script = folder_ / "read.py";
  write_bytes(script, R"(
import h5py, sys
f = h5py.File(sys.argv[1], "r")
status, rows = sys.argv[2], int(sys.argv[3])
assert f.attrs["format"].decode() == "trammel-result" and f.attrs["format_version"] == 1
assert f.attrs["status"].decode() == status, f.attrs["status"]
assert f.attrs["tables"].decode() == "output,steps"
assert f["provenance"].attrs["model_file"].decode() == "four_bar.yaml"
assert f["provenance"].attrs["title"].decode() == "Four-bar \u2014 \"test\": a, b"
names = list(f["output/names"].asstr())
units = list(f["output/units"].asstr())
assert names[0] == "time" and units[0] == "s"
column = names.index("body.crank.position.x")
assert units[column] == "m" and f["output/frames"].asstr()[column] == "world"
assert f["output/flags"].asstr()[3].startswith("least-norm reaction")
assert "\u00e9" in f["output/text"].asstr()[4]
data = f["output/data"]
assert data.shape[1] == 5 and data.dtype == "float64"
time = data[:, 0]
assert (time == time).sum() == rows and (status == "running" or len(time) == rows)
assert abs(data[9, 0] - 0.9) < 1e-15
if status == "finished":
    import json
    assert json.loads(f["summary"][()])["steps"] == 12
)");
  const auto python = [&](const std::string& status, int rows) {
    const std::string command = "/usr/bin/python3 " + script + " " + path_ + " " + status + " " + std::to_string(rows);
    return std::system(command.c_str());
  };
  EXPECT_EQ(python("running", 10), 0);  // while the run goes on
  sample::append_rows(writer, 0, 5, 10, 25);
  writer.finish(RunStatus::finished, R"({"steps": 12})", "");
  EXPECT_EQ(python("finished", 25), 0);
}

}  // namespace
}  // namespace trammel::hdf5_test
