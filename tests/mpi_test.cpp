// `mpirun lockstep check`: ranks that are processes. Where Boost.MPI is not installed there are none.
#ifdef LOCKSTEP_MPIRUN

#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "checker/support/process.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

class Mpirun {
 public:
  Mpirun() {
    // Containers of continuous integration run as root.
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    // Where processes may not read one another's memory.
    ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
    ::setenv("LOCKSTEP_HOME", LOCKSTEP_SOURCE_DIR, 1);
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // MPI leaves some
  }
  [[nodiscard]] ProcessResult run(int ranks, const std::vector<std::string>& arguments) const {
    Process process;
    process.command = {LOCKSTEP_MPIRUN, "--oversubscribe", "-n", std::to_string(ranks), LOCKSTEP_BINARY};
    process.command.insert(process.command.end(), arguments.begin(), arguments.end());
    process.folder = folder_.path();
    process.time = std::chrono::minutes(5);
    return run_process(process);
  }
  // What one of its runs printed as JSON, in front of what mpirun says of an exit status.
  [[nodiscard]] static nlohmann::json told(const ProcessResult& result) {
    const std::size_t end = result.output.find("\n}\n");
    INFO(result.output);
    REQUIRE(end != std::string::npos);
    return nlohmann::json::parse(result.output.substr(0, end + 2)).at("runs").at(0);
  }
  [[nodiscard]] fs::path folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

// Ends one of the ranks that keep their checkpoints there, once there are some; whether it did.
bool kill_rank(const fs::path& kept, std::mt19937& random) {
  for (int tries = 0; tries < 400 && !fs::exists(kept / "german" / "cluster.json"); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
  std::vector<pid_t> ranks;
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::error_code error;
    const fs::path executable = fs::read_symlink(process.path() / "exe", error);
    if (error || executable.filename() != "lockstep-mpi") continue;
    const fs::path folder = fs::read_symlink(process.path() / "cwd", error);
    if (!error && folder == fs::canonical(kept.parent_path()))
      ranks.push_back(std::stoi(process.path().filename().string()));
  }
  return !ranks.empty() && ::kill(ranks[random() % ranks.size()], SIGKILL) == 0;
}

}  // namespace

TEST_CASE("2 and 4 ranks count what one process counts") {
  const Mpirun mpirun;
  for (const int ranks : {2, 4}) {
    const ProcessResult result = mpirun.run(ranks, {"check", "german", "--size", "node=4", "--json"});
    CHECK(result.status == 0);
    const nlohmann::json told = Mpirun::told(result);
    CHECK(told.at("ranks") == ranks);
    CHECK(told.at("verdict") == "holds");
    CHECK(told.at("states") == 1'105'434);
    CHECK(told.at("transitions") == 5'922'288);
    CHECK(told.at("depth") == 34);
  }
  // A program on a memory system, up to symmetry.
  const ProcessResult result = mpirun.run(
      3, {"check", "write-through", "--program", "lock-toggle-agent", "--symmetry", "all", "--json"});
  CHECK(Mpirun::told(result).at("states") == 293'827);
}

TEST_CASE("what ranks find violated can be replayed, and is said once") {
  const Mpirun mpirun;
  const ProcessResult result =
      mpirun.run(2, {"check", "german", "--fault", "keep-copy", "--trace", "t.json"});
  CHECK(result.status == 1);
  CHECK(result.output.find("violated: ") == result.output.rfind("violated: "));
  const ProcessResult replayed =
      run_process({{LOCKSTEP_BINARY, "replay", "t.json"}, mpirun.folder(), std::chrono::minutes(1)});
  CHECK(replayed.status == 0);
  CHECK_THAT(replayed.output, Catch::Contains("As recorded: 10 steps"));
}

TEST_CASE("ranks one of which dies go on from their last checkpoint to the same counts") {
  const Mpirun mpirun;
  std::mt19937 random(20261126);
  const std::vector<std::string> check{"check",    "german",  "--size", "node=4", "--resume",
                                       "of-ranks", "--every", "0.05",   "--json"};
  int killed = 0;
  for (int run = 0; run < 3; ++run) {
    std::jthread killer([&] { killed += kill_rank(mpirun.folder() / "of-ranks", random) ? 1 : 0; });
    const ProcessResult result = mpirun.run(3, check);
    if (result.status == 0) break;
  }
  const nlohmann::json told = Mpirun::told(mpirun.run(3, check));
  CHECK(killed > 0);
  CHECK(told.at("states") == 1'105'434);
  CHECK(told.at("transitions") == 5'922'288);
  const ProcessResult others = mpirun.run(2, check);
  CHECK(others.status == 2);
  CHECK_THAT(others.output, Catch::Contains("the checkpoint is of 3 ranks, and these are 2"));
}

TEST_CASE("what is for one process is refused by ranks") {
  const Mpirun mpirun;
  CHECK_THAT(mpirun.run(2, {"litmus"}).output, Catch::Contains("`litmus` is for one process"));
  CHECK_THAT(mpirun.run(2, {"check", "german", "--hunt", "1"}).output,
             Catch::Contains("--hunt is for one process"));
  const ProcessResult misnamed = mpirun.run(2, {"check", "germn"});
  CHECK(misnamed.status == 2);
  CHECK(misnamed.output.find("did you mean") == misnamed.output.rfind("did you mean"));
}

#endif
