// Processes by posix_spawn, each in a group of its own, so that a compiler's or checker's children end with
// it.
#include "checker/support/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>
#include <thread>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

// A verifier prints lines, not gigabytes; what follows is dropped.
constexpr std::size_t most_output = std::size_t{1} << 30;

// What posix_spawn is told, freed when it goes.
class SpawnSettings {
 public:
  SpawnSettings(const std::string& folder, const std::string& out, const std::string& err) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

// Waits for the process, or ends its group when it must not go on.
void wait_for(pid_t pid, const Process& process, Clock::time_point begun, ProcessResult& result) {
  using namespace std::chrono_literals;
  std::chrono::microseconds pause = 200us;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    const bool late = process.time.count() != 0 && Clock::now() - begun > process.time;
    const bool interrupted = process.interrupted != nullptr && process.interrupted->load();
    if (late || interrupted) {
      kill(-pid, SIGKILL);
      waitpid(pid, &status, 0);
      result.end = interrupted ? ProcessResult::End::interrupted : ProcessResult::End::out_of_time;
      return;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(2 * pause, 20ms);
  }
  result.end = WIFSIGNALED(status) ? ProcessResult::End::crashed : ProcessResult::End::exited;
  result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ProcessResult run_process(const Process& process) {
  const std::string out = (process.folder / "stdout").string();
  const std::string err = (process.folder / "stderr").string();
  const SpawnSettings settings(process.folder.string(), out, err);
  std::vector<char*> arguments;
  for (const std::string& word : process.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ProcessResult result;
  const auto begun = Clock::now();
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, arguments[0], &settings.actions, &settings.attributes, arguments.data(), environ);
  if (error == ENOENT || error == EACCES) {
    result.end = ProcessResult::End::missing;
    return result;
  }
  if (error != 0) throw std::system_error(error, std::generic_category(), process.command[0]);
  wait_for(pid, process, begun, result);
  result.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  result.output = read_file(out) + read_file(err);
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "lockstep-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw BadInput("no folder for temporary files can be made: " + std::string(std::strerror(errno)),
                   "set TMPDIR to a folder that can be written");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  text.reserve(std::filesystem::exists(file) ? std::min(std::filesystem::file_size(file), most_output) : 0);
  for (std::istreambuf_iterator<char> at(in), end; at != end && text.size() < most_output; ++at) text += *at;
  return text;
}

namespace {

void refuse_unwritten(const std::ofstream& out, const std::filesystem::path& file) {
  if (!out) throw BadInput(Diagnostic{file.string(), {}, "cannot be written", {}, {}});
}

}  // namespace

WholeFile::WholeFile(const std::filesystem::path& file) : file_(file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool there = fs::exists(file, error);
  if (there && fs::is_regular_file(file, error)) file_ = fs::canonical(file);
  if (!there || fs::is_regular_file(file_, error)) {
    // Whoever else writes the same file, in this process or another, has another name in between.
    static std::atomic<unsigned> number{0};
    beside_ = file_;
    beside_ += "." + std::to_string(::getpid()) + "-" + std::to_string(number++) + ".part";
  }
  stream_.open(beside_.empty() ? file_ : beside_, std::ios::binary);
  refuse_unwritten(stream_, file_);
}

WholeFile::~WholeFile() {
  if (!stream_.is_open()) return;
  stream_.close();
  std::error_code none;
  if (!beside_.empty()) std::filesystem::remove(beside_, none);
}

void WholeFile::put_in_place() {
  std::error_code error;
  stream_.flush();
  refuse_unwritten(stream_, file_);
  stream_.close();
  if (beside_.empty()) return;
  std::filesystem::rename(beside_, file_, error);
  if (error) throw BadInput(Diagnostic{file_.string(), {}, "cannot be written: " + error.message(), {}, {}});
}

void write_whole(const std::filesystem::path& file, const std::string& text) {
  WholeFile whole(file);
  whole.stream() << text;
  whole.put_in_place();
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  refuse_unwritten(out, file);
}
void ensure_writable(const std::filesystem::path& file) {
  refuse_unwritten(std::ofstream(file, std::ios::app), file);
}

}  // namespace lockstep
