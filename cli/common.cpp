// Shared options, signals and the terminal.
#include "cli/common.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "checker/support/diagnostic.hpp"
#include "checker/support/digest.hpp"
#include "checker/support/home.hpp"

namespace lockstep::cli {

namespace {

namespace fs = std::filesystem;

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
constexpr std::size_t page_width = 80;

// A signal handler can reach nothing but a global.
std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

void LimitOptions::add_to(CLI::App& app, const std::string& timeout_is_for) {
  app.add_option("--threads", threads, "Threads to use (default: all of this machine's)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  app.add_option("--memory", gibibytes, "Memory for visited states (default: 3/4 of this machine's)")
      ->check(CLI::Range(0.001, 1048576.0).description(""))
      ->type_name("GiB");
  app.add_option("--timeout", seconds, "Time for " + timeout_is_for + " (default: no limit)")
      ->check(CLI::Range(0.001, 1e9).description(""))
      ->type_name("SECONDS");
}

RunLimits LimitOptions::limits() const {
  RunLimits limits;
  limits.threads = threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  limits.memory = gibibytes != 0 ? static_cast<std::size_t>(gibibytes * gibibyte) : usual_memory();
  limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  limits.interrupted = &interrupted();
  return limits;
}

void SystemChoice::add_to(CLI::App& app) {
  app.add_option("--variant", variant, "Variant of the system (as SYSTEM/VARIANT says, too)")->type_name("V");
  add_list(app, "--fault", faults, "Switch a deliberate mistake on")->type_name("F");
  add_list(app, "--size", sizes, "Set a size of the machine, such as s-fifo1-entries=2")->type_name("K=N");
}

SharedOptions SystemChoice::shared() const {
  SharedOptions shared{variant, faults, {}};
  for (const std::string& size : sizes) shared.sizes.insert(parse_size(size));
  return shared;
}

std::vector<CLI::Option*> add_generated(CLI::App& app, generate::GenerateOptions& options) {
  return {
      app.add_option("--up-to", options.up_to, "Generated tests: edges of a cycle, with its extras; 0: none")
          ->type_name("N")
          ->capture_default_str(),
      app.add_flag("--straight", options.straight, "Also the programs of 2 threads with 2 operations each"),
      app.add_flag(
          "--warm", options.warm,
          "Also each cycle with a load ahead, whose block is then in some cache; its size is not counted")};
}

CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                      const std::string& what) {
  return app.add_option(names, values, what)->delimiter(',')->allow_extra_args(false);
}

std::optional<std::vector<std::string>> symmetry_of(const std::vector<std::string>& named) {
  if (named.empty()) return std::nullopt;
  if (std::find(named.begin(), named.end(), "all") == named.end()) return named;
  if (named.size() > 1) throw BadInput("--symmetry takes `all`, or index types");
  return std::vector<std::string>{};
}

std::string build_identity() {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  return digest(std::string(std::istreambuf_iterator<char>(self), std::istreambuf_iterator<char>()));
}

std::string path_of_executable(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").string() + "-" + name;
}

bool is_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const ranks = std::getenv(name);
    if (ranks != nullptr && std::string_view(ranks) != "1") return true;
  }
  return false;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_flag.store(true, std::memory_order_relaxed); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);  // `timeout` and batch systems
}

const std::atomic<bool>& interrupted() {
  return interrupt_flag;
}

ProgressLine::ProgressLine() {
  const char* terminal = std::getenv("TERM");
  if (isatty(STDERR_FILENO) == 0 || (terminal != nullptr && std::string_view(terminal) == "dumb")) return;
  winsize size{};
  width_ = page_width;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) {
    width_ = std::min<std::size_t>(page_width, size.ws_col);
  }
}

void ProgressLine::show(const std::string& text) {
  if (width_ == 0) return;
  fmt::print(stderr, "\r{}\x1b[K", text.substr(0, width_ - 1));
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::erase() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

void print_now(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw BadInput(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void print_error(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
}

LitmusTests tests_for(const SystemEntry& system, SuiteFiles files) {
  if (system.runs_programs) {
    refuse_launches(files, fmt::format("{} runs programs", system.name));
    return std::move(files.tests);
  }
  if (system.build_launched == nullptr) throw BadInput(fmt::format("{} runs no programs", system.name));
  if (!files.tests.empty() && files.launches.empty()) {
    throw BadInput(Diagnostic{files.tests.front()->file,
                              {},
                              fmt::format("is a program, and {} takes sequences of launches", system.name),
                              "name a test whose file begins with LAUNCHES",
                              {}});
  }
  return std::move(files.launches);
}

std::string litmus_home() {
  std::error_code error;
  const fs::path home = shipped("litmus");
  const fs::path near = fs::proximate(home, error);
  return (error || near.empty() || *near.begin() == "..") ? home.string() : near.string();
}

}  // namespace lockstep::cli
