#include "proofs/second_solver.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/process.hpp>
#include <boost/process/extend.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <istream>
#include <mutex>
#include <sstream>
#include <stop_token>
#include <system_error>
#include <thread>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

namespace bp = boost::process;

// Where a command stands, found as a shell would; empty where it does not.
std::string found_in_path(const std::string& command) {
  if (command.find('/') != std::string::npos)
    return std::filesystem::exists(command) ? command : std::string();
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable == nullptr ? "" : variable);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (std::filesystem::path(folder) / command).string();
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

SecondSolver::SecondSolver(const std::string& command, double seconds) : seconds_(seconds) {
  program_ = found_in_path(command);
  if (program_.empty()) {
    throw BadInput(fmt::format("the second solver '{}' is not installed", command),
                   fmt::format("on Debian or Ubuntu: sudo apt-get install {}", command));
  }
  // cvc5 instantiates by patterns alone unless told to go on; Z3 and others take the file as it is.
  if (std::filesystem::path(program_).filename() == "cvc5") {
    arguments_ = {"--lang=smt2", "--full-saturate-quant",
                  fmt::format("--tlimit={}", static_cast<long>(seconds_ * 1000))};
  }
}

SecondOpinion SecondSolver::ask(const std::string& file) const {
  SecondOpinion opinion;
  try {
    bp::ipstream out;
    std::vector<std::string> arguments = arguments_;
    arguments.push_back(file);
    bp::child child(program_, bp::args(arguments), (bp::std_out & bp::std_err) > out, bp::std_in < bp::null);
    std::string text;
    bool late = false;
    {
      // A solver keeps its own limit of time; this one is for a solver that does not.
      std::mutex mutex;
      std::condition_variable_any ended;
      const std::jthread watch([&](const std::stop_token& stop) {
        std::unique_lock lock(mutex);
        ended.wait_for(lock, stop, std::chrono::duration<double>(seconds_ + 1), [] { return false; });
        if (stop.stop_requested()) return;
        late = true;
        std::error_code ignored;
        child.terminate(ignored);
      });
      for (std::string line; std::getline(out, line);) text += line + "\n";
    }
    std::error_code ignored;
    child.wait(ignored);
    const std::string answer = first_line(text);
    if (answer == "unsat") {
      opinion.answer = SecondOpinion::Answer::unsat;
    } else if (answer == "sat") {
      opinion.answer = SecondOpinion::Answer::sat;
    } else if (late || answer == "unknown" || text.find("timeout") != std::string::npos ||
               text.find("interrupted") != std::string::npos) {
      opinion.answer = SecondOpinion::Answer::unknown;
      opinion.message = answer.empty() ? "it ran out of time" : answer;
    } else {
      opinion.message =
          answer.empty() ? fmt::format("it ended with status {} and said nothing", child.native_exit_code())
                         : answer;
    }
  } catch (const std::system_error& e) {
    opinion.message = e.what();
  }
  return opinion;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw BadInput(
        fmt::format("cannot make a folder in {}", std::filesystem::temp_directory_path().string()));
  }
  path_ = pattern;
}
TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lockstep
