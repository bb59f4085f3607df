// Running another program, with a limit of time: what it printed and how it ended. Nothing is passed through
// a shell.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
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

// Throws BadInput where the file cannot be written. `ensure_writable` leaves what it holds as it is.
void write_file(const std::filesystem::path& file, const std::string& text);
void ensure_writable(const std::filesystem::path& file);
std::string read_file(const std::filesystem::path& file);

}  // namespace lockstep
