// Running another program, with a limit of time: what it printed and how it ended. Nothing is passed through
// a shell.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace lockstep {

struct Process {
  std::vector<std::string> command;   // the program, found along PATH, and its arguments
  std::filesystem::path folder;       // where it runs; its output is kept there while it does
  std::chrono::milliseconds time{0};  // 0: no limit
  const std::atomic<bool>* interrupted = nullptr;
};

struct ProcessResult {
  enum class End : std::uint8_t {
    exited,
    crashed,      // by a signal
    missing,      // there is no such program
    out_of_time,  // ended by us, with all that it had started
    interrupted,
  };
  End end = End::exited;
  int status = 0;      // of exited; the signal of crashed
  std::string output;  // standard output, then standard error
  double seconds = 0;
};

ProcessResult run_process(const Process& process);

// A folder of its own for the files of a run, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A file that is there whole or not at all: what is written lies beside it until it is put in its place,
// where a link goes on leading there. A pipe or a device is written as it is.
class WholeFile {
 public:
  explicit WholeFile(const std::filesystem::path& file);  // throws BadInput where it cannot be written
  ~WholeFile();                                           // leaves nothing of what was not put in its place
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  [[nodiscard]] std::ostream& stream() { return stream_; }
  void put_in_place();  // throws BadInput where not all of it could be written

 private:
  std::filesystem::path file_;
  std::filesystem::path beside_;  // empty: there is nothing to put anywhere
  std::ofstream stream_;
};
void write_whole(const std::filesystem::path& file, const std::string& text);

// Throws BadInput where the file cannot be written. `ensure_writable` leaves what it holds as it is.
void write_file(const std::filesystem::path& file, const std::string& text);
void ensure_writable(const std::filesystem::path& file);
std::string read_file(const std::filesystem::path& file);

}  // namespace lockstep
