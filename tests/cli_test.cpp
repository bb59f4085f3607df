// The command as a user meets it: exit statuses, near names, output for people and for programs, Ctrl-C.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "checker/support/process.hpp"
#include "checker/support/registration.hpp"

#ifdef LOCKSTEP_BINARY

namespace {

namespace fs = std::filesystem;

struct Result {
  int status = -1;
  std::string out;
  std::string error;
};

// A folder to run in, so that traces land nowhere else.
class Command {
 public:
  [[nodiscard]] fs::path folder() const { return folder_.path(); }

  std::string add(const std::string& name, const std::string& text) const {
    std::ofstream(folder() / name) << text;
    return (folder() / name).string();
  }

  // Starts the command; with `interrupt_after` it gets a signal then.
  Result run(const std::vector<std::string>& arguments, std::chrono::milliseconds interrupt_after = {},
             int signal = SIGINT) const {
    const pid_t child = ::fork();
    if (child == 0) become(arguments);
    if (interrupt_after.count() > 0) {
      std::this_thread::sleep_for(interrupt_after);
      ::kill(child, signal);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of("out"), text_of("error")};
  }

 private:
  [[noreturn]] void become(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{LOCKSTEP_BINARY};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const auto send = [&](int descriptor, const char* name) {
      const int file = ::open((folder() / name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(file, descriptor);
    };
    send(STDOUT_FILENO, "out");
    send(STDERR_FILENO, "error");
    if (::chdir(folder_.path().c_str()) == 0) ::execv(LOCKSTEP_BINARY, argv.data());
    ::_exit(127);
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder() / name).rdbuf();
    return text.str();
  }
  lockstep::TemporaryFolder folder_;
};

std::string read(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>{}};
}

}  // namespace

TEST_CASE("help is printed for the command and each subcommand, with examples") {
  const Command lockstep;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"litmus", "--help"},
                                                    {"generate", "--help"},
                                                    {"conform", "--help"},
                                                    {"check", "--help"},
                                                    {"compare", "--help"},
                                                    {"distinguish", "--help"},
                                                    {"mutate", "--help"},
                                                    {"replay", "--help"},
                                                    {"explain", "--help"},
                                                    {"export", "--help"},
                                                    {"crosscheck", "--help"},
                                                    {"list", "--help"},
                                                    {"doctor", "--help"},
                                                    {"completion", "--help"}}) {
    const Result result = lockstep.run(arguments);
    CAPTURE(arguments.front());
    CHECK(result.status == 0);
    CHECK_THAT(result.out, Catch::Contains("Examples:\n  lockstep "));
  }
}

TEST_CASE("a check that is killed at any moment goes on from its folder to the same counts") {
  // As many moments as the environment says; CI has a few, and the nightly set a hundred.
  const char* const asked = std::getenv("LOCKSTEP_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 5;
  const Command lockstep;
  std::mt19937 random(20261126);
  int killed = 0;
  for (int run = 0; killed < kills; ++run) {
    REQUIRE(run < 20 * kills);
    const std::string kept = "kept" + std::to_string(run);
    const std::vector<std::string> check{"check",
                                         "german",
                                         "--size",
                                         "node=4",
                                         "--resume",
                                         kept,
                                         "--every",
                                         "0.02",
                                         "--json",
                                         "--threads",
                                         run % 2 == 0 ? "1" : "2"};
    for (int again = 0; again < 3; ++again) {
      const Result result = lockstep.run(check, std::chrono::milliseconds(10 + random() % 600), SIGKILL);
      if (result.status != -1) break;
      ++killed;
    }
    const Result result = lockstep.run(check);
    REQUIRE(result.status == 0);
    const auto told = nlohmann::json::parse(result.out).at("runs").at(0);
    CHECK(told.at("states") == 1'105'434);
    CHECK(told.at("transitions") == 5'922'288);
    fs::remove_all(lockstep.folder() / kept);
  }
}

TEST_CASE("the examples for a cluster, run as plain processes, make the parts of one matrix") {
  const Command lockstep;
  const std::string options = " --on sc,write-through --models hrf-indirect,tso";
  const std::string folder = LOCKSTEP_SOURCE_DIR "/examples/cluster/";
  const auto task = [&](const std::string& environment, const std::string& script) {
    const std::string command = "cd '" + lockstep.folder().string() +
                                "' && env LOCKSTEP='" LOCKSTEP_BINARY "' " + environment + " sh " + folder +
                                script + options + " > out";
    return std::system(command.c_str());
  };
  // Two tasks of an array, one of an indexed job, and one by hand.
  const std::string array =
      "SLURM_SUBMIT_DIR='" LOCKSTEP_SOURCE_DIR "' SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 UP_TO=3 ";
  CHECK(task(array + "SLURM_ARRAY_TASK_ID=1", "matrix.slurm") == 0);
  CHECK(task(array + "SLURM_ARRAY_TASK_ID=2", "matrix.slurm") == 0);
  CHECK(task("JOB_COMPLETION_INDEX=2 PARTS=4", "part.sh -- --up-to 3") == 0);
  CHECK(task("", "part.sh 4 4 -- --up-to 3") == 0);
  CHECK(task("", "part.sh") != 0);
  const std::vector<std::string> matrix{"conform",          "--matrix", "--up-to",          "3",     "--on",
                                        "sc,write-through", "--models", "hrf-indirect,tso", "--json"};
  std::vector<std::string> merged = matrix;
  merged.insert(merged.end(), {"--merge", "1.journal,2.journal,3.journal,4.journal"});
  const auto whole = nlohmann::json::parse(lockstep.run(matrix).out);
  const auto parts = nlohmann::json::parse(lockstep.run(merged).out);
  CHECK(parts.at("cells") == whole.at("cells"));
  CHECK(parts.at("models") == whole.at("models"));
  CHECK(parts.at("resumed") == whole.at("done"));
}

TEST_CASE("the shards of a suite are all of its tests, each once") {
  const Command lockstep;
  const auto tests_of = [&](const std::vector<std::string>& shard) {
    std::vector<std::string> words{"litmus", LOCKSTEP_SOURCE_DIR "/litmus/mp", "--on", "sc", "--json"};
    words.insert(words.end(), shard.begin(), shard.end());
    const Result result = lockstep.run(words);
    CHECK(result.status == 0);
    std::vector<std::string> tests;
    const auto said = nlohmann::json::parse(result.out);
    for (const auto& test : said.at("tests")) tests.push_back(test.at("name"));
    return tests;
  };
  std::vector<std::string> together;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const std::vector<std::string> some = tests_of({"--shard", shard});
    together.insert(together.end(), some.begin(), some.end());
  }
  std::vector<std::string> all = tests_of({});
  CHECK(all.size() > 10);
  std::sort(all.begin(), all.end());
  std::sort(together.begin(), together.end());
  CHECK(together == all);
  CHECK(lockstep.run({"litmus", "--shard", "4/3"}).status == 2);
}

TEST_CASE("a full disk ends checkpoints and not the check") {
  const Command lockstep;
  const std::string script = "trap '' XFSZ; ulimit -f 1000; cd '" + lockstep.folder().string() +
                             "'; '" LOCKSTEP_BINARY "' check german --resume kept --every 0.01 --json > out";
  REQUIRE(std::system(("bash -c \"" + script + "\"").c_str()) == 0);
  const auto told = nlohmann::json::parse(read(lockstep.folder() / "out")).at("runs").at(0);
  CHECK(told.at("verdict") == "holds");
  CHECK(told.at("states") == 1'105'434);
  CHECK_THAT(told.at("checkpoint_failed").get<std::string>(), Catch::Contains("cannot be written"));
  // The last one is whole.
  const Result result = lockstep.run({"check", "german", "--resume", "kept", "--json"});
  CHECK(result.status == 0);
  CHECK(nlohmann::json::parse(result.out).at("runs").at(0).at("states") == 1'105'434);
}

TEST_CASE("a mistyped command, option, system, test or fault ends with the nearest name and status 2") {
  const Command lockstep;
  const auto hint = [&](const std::vector<std::string>& arguments) {
    const Result result = lockstep.run(arguments);
    CHECK(result.status == 2);
    return result.error;
  };
  CHECK_THAT(hint({"litmsu"}), Catch::Contains("did you mean 'litmus'?"));
  CHECK_THAT(hint({"litmus", "--summary-onyl"}), Catch::Contains("did you mean '--summary-only'?"));
  CHECK_THAT(hint({"litmus", "--on", "quick-relase"}), Catch::Contains("did you mean 'quick-release'?"));
  CHECK_THAT(hint({"litmus", "mp-agnet"}), Catch::Contains("did you mean 'mp-agent'?"));
  CHECK_THAT(hint({"check", "german", "--fault", "keep-cpoy"}), Catch::Contains("did you mean 'keep-copy'?"));
  CHECK_THAT(hint({"check", "german", "--size", "nodes=3"}), Catch::Contains("did you mean 'node'?"));
  CHECK_THAT(hint({"check", "quick-release/splitfifo"}), Catch::Contains("did you mean 'split-fifo'?"));
  CHECK_THAT(hint({"litmus", "--against", "hrf-indirekt"}), Catch::Contains("did you mean 'hrf-indirect'?"));
  CHECK_THAT(hint({"conform", "quick-relase"}), Catch::Contains("did you mean 'quick-release'?"));
  CHECK_THAT(hint({"conform", "sc", "--model", "hrf-indirekt"}),
             Catch::Contains("did you mean 'hrf-indirect'?"));
  CHECK_THAT(hint({"conform", "german"}), Catch::Contains("runs no programs"));
  CHECK_THAT(hint({"conform", "sc", "--resume", "no/such/folder"}), Catch::Contains("cannot be written"));
  CHECK_THAT(hint({"generate", "--up-to", "99"}), Catch::Contains("out of reach"));
  CHECK_THAT(hint({"compare", "sc", "wriet-through"}), Catch::Contains("did you mean 'write-through'?"));
  CHECK_THAT(hint({"mutate", "write-throgh"}), Catch::Contains("did you mean 'write-through'?"));
  CHECK_THAT(hint({"mutate", "german", "--rule", "gives up it's copy"}),
             Catch::Contains("did you mean 'gives up its copy'?"));
  CHECK_THAT(hint({"export", "german", "--to", "tla"}), Catch::Contains("murphi"));
  CHECK_THAT(hint({"export", "quick-release", "--to", "murphi"}), Catch::Contains("--program"));
  CHECK_THAT(hint({"crosscheck", "german", "--with", "spinn"}), Catch::Contains("did you mean 'spin'?"));
  CHECK_THAT(hint({"crosscheck", "german", "--program", "mp-agent"}), Catch::Contains("runs no programs"));
  CHECK_THAT(hint({"list", "fault"}), Catch::Contains("did you mean 'faults'?"));
  CHECK_THAT(hint({}), Catch::Contains("Usage: "));
  CHECK_THAT(hint({"check"}), Catch::Contains("SYSTEM is required"));
  CHECK_THAT(hint({"check", "sc", "--program", "no-such"}), Catch::Contains("no such file, folder or test"));
  CHECK(lockstep.run({"check", "sc", "--program", "no-such"}).out.empty());
  CHECK_THAT(hint({"litmus", "--threads", "none"}), Catch::Contains("--threads"));
}

TEST_CASE("mutants are counted by rule, and those that live are said with what is changed") {
  const Command lockstep;
  const Result table = lockstep.run({"mutate", "german", "--size", "node=2", "--by", "tests"});
  CHECK(table.status == 1);
  CHECK_THAT(table.out, Catch::StartsWith("Mutants of german, node=2\nRule"));
  CHECK_THAT(table.out, Catch::Contains("\n\nAlive\n'"));
  CHECK_THAT(table.out, Catch::Contains("' never fires\n  (the rule never fired)\n"));
  CHECK_THAT(table.out, Catch::Contains(" mutants: ") && Catch::Contains(" 0 inconclusive, 0 errors, "));
  const Result killed = lockstep.run({"mutate", "german", "--size", "node=2", "--killed"});
  CHECK_THAT(killed.out, Catch::Contains("\n\nKilled\n'") && Catch::Contains("\n  by every state ("));
  CHECK_THAT(killed.out, Catch::Contains(", the proof of \"") && Catch::Contains(" of those killed), "));
  const Result proofs =
      lockstep.run({"mutate", "german", "--by", "lemmas", "--rule", "gives up its copy", "--killed"});
  CHECK_THAT(proofs.out, Catch::Contains("\n  by the proof of \"") && !Catch::Contains("never fired"));
  const Result nothing = lockstep.run({"mutate", "german", "--by", "theorem"});
  CHECK(nothing.status == 2);
  CHECK_THAT(nothing.error, Catch::Contains("no lemmas for the theorem"));
  CHECK(lockstep.run({"mutate", "german", "--by", "oracle"}).status == 2);
  const Result unasked = lockstep.run({"mutate", "german", "--by", "progress"});
  CHECK(unasked.status == 2);
  CHECK_THAT(unasked.error, Catch::Contains("no lemmas for a proof of progress"));
  CHECK(lockstep.run({"mutate", "write-through", "--by", "theorem,progress"}).status == 2);
  const auto json =
      nlohmann::json::parse(lockstep.run({"mutate", "german", "--size", "node=2", "--json"}).out);
  CHECK(json.at("schema") == "lockstep.mutants/1");
  std::size_t alive = 0;
  for (const auto& mutant : json.at("mutants")) {
    alive += mutant.at("alive").get<bool>() ? 1 : 0;
    CHECK(mutant.at("alive") == (mutant.at("killers").empty() && mutant.at("proof").at("refuted") == "" &&
                                 !mutant.at("proof").at("equivalent")));
  }
  CHECK(alive == json.at("totals").at("differing").get<std::size_t>());
}

TEST_CASE("mutants go on from a journal, which is of one run alone") {
  const Command lockstep;
  const fs::path path = lockstep.folder() / "mutants.journal";
  const std::vector<std::string> asked{"mutate",   "german",      "--size",
                                       "node=2",   "--rule",      "gives up its copy",
                                       "--resume", path.string(), "--json"};
  const auto mutants = [](const Result& result) {
    nlohmann::json all = nlohmann::json::parse(result.out).at("mutants");
    return all;
  };
  const Result first = lockstep.run(asked);
  // What is missing is asked again, the rest is as it was found.
  std::string text;
  {
    std::ifstream in(path);
    std::string line;
    for (int n = 0; n < 5 && std::getline(in, line); ++n) text += line + "\n";
  }
  std::ofstream(path, std::ios::trunc) << text << "{\"mistake\": 3, \"rep";
  const Result again = lockstep.run(asked);
  REQUIRE(mutants(first).size() == mutants(again).size());
  std::size_t as_found = 0;
  for (std::size_t i = 0; i < mutants(first).size(); ++i) {
    nlohmann::json one = mutants(first)[i];
    nlohmann::json other = mutants(again)[i];
    as_found += one.at("seconds") == other.at("seconds") ? 1 : 0;
    one.erase("seconds");
    other.erase("seconds");
    CHECK(one == other);
  }
  CHECK(as_found >= 4);
  std::vector<std::string> elsewhere = asked;
  elsewhere[3] = "node=3";
  const Result refused = lockstep.run(elsewhere);
  CHECK(refused.status == 2);
  CHECK_THAT(refused.error, Catch::Contains("the journal is about another run"));
}

TEST_CASE("litmus runs programs and sequences of launches, each on the systems that take them") {
  const Command lockstep;
  const Result both = lockstep.run({"litmus", "mp-agent", "reader-needs-acquire", "--summary-only"});
  CHECK(both.status == 0);
  CHECK_THAT(both.out, Catch::Contains("mp-agent  never"));
  CHECK_THAT(both.out, Catch::Contains("(4) cpcoh/as-printed"));
  CHECK_THAT(both.out, Catch::Contains("2 tests on 18 systems: 2 as expected"));
  const Result printed =
      lockstep.run({"litmus", "reader-needs-acquire", "--on", "cpcoh/as-printed", "--json"});
  CHECK(printed.status == 0);
  CHECK(nlohmann::json::parse(printed.out).at("tests").at(0).at("systems").at(0).at("observation") ==
        "sometimes");
  const Result nowhere = lockstep.run({"litmus", "reader-needs-acquire", "--on", "sc"});
  CHECK(nowhere.status == 2);
  CHECK_THAT(nowhere.error, Catch::Contains("is a sequence of launches") && Catch::Contains("--on: cpcoh"));
  const Result faults = lockstep.run({"litmus", "reader-needs-acquire", "--faults", "cpcoh"});
  CHECK(faults.status == 1);
  CHECK_THAT(faults.out, Catch::Contains("reader-needs-acquire (verdict)"));
}

TEST_CASE("sim runs launches beside the baseline, and tells wrong results") {
  const Command lockstep;
  const Result right = lockstep.run({"sim", "babelstream", "--on", "cpcoh", "--size", "pages=8"});
  CHECK(right.status == 0);
  CHECK_THAT(right.out, Catch::Contains("acquires issued"));
  CHECK_THAT(right.out, Catch::Contains("Results on cpcoh/baseline: right: all 24 words checked"));
  const Result wrong = lockstep.run({"sim", "stencil", "--on", "cpcoh/as-drawn", "--size", "pages=8"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out, Catch::Contains("WRONG"));
  CHECK(lockstep.run({"sim", "babelstream", "--on", "sc"}).status == 2);
}

TEST_CASE("sim takes other values for a machine's entries, and says which are none") {
  const Command lockstep;
  const std::vector<std::string> copy{"sim", "copy", "--size", "words=64", "--json"};
  const auto cycles = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> arguments = copy;
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const Result result = lockstep.run(arguments);
    CHECK(result.status == 0);
    return nlohmann::json::parse(result.out).at("runs").at(0).at("cycles").get<double>();
  };
  CHECK(cycles({"memory.latency=1000"}) > cycles({}) + 500);
  CHECK(cycles({"memory.kind=dram", "memory.preset=ddr4", "memory.bytes_per_cycle="}) > 0);
  const Result wrong = lockstep.run({"sim", "copy", "--set", "memory.quue=3"});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.error, Catch::Contains("with memory.quue=3") && Catch::Contains("'queue'"));
  const Result borrowed = lockstep.run({"sim", "copy", "--size", "words=64", "--on", "halcone"});
  CHECK(borrowed.status == 0);
  CHECK_THAT(borrowed.out, Catch::Contains("does not describe halcone: as in halcone.toml"));
}

TEST_CASE("sim writes a timeline of one workload on one system") {
  const Command lockstep;
  const Result result = lockstep.run({"sim", "copy", "--size", "words=64", "--timeline", "t.json"});
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Catch::Contains("Timeline written to t.json"));
  CHECK(nlohmann::json::parse(read(lockstep.folder() / "t.json")).at("traceEvents").size() > 500);
  CHECK(lockstep.run({"sim", "copy", "--on", "sc,lab", "--timeline", "u.json"}).status == 2);
  CHECK(lockstep.run({"sim", "copy", "--timeline", "none/u.json"}).status == 2);
  CHECK_FALSE(fs::exists(lockstep.folder() / "u.json"));
}

TEST_CASE("sim draws a roofline by gnuplot, or says that it is not here before anything runs") {
  const Command lockstep;
  const Result result =
      lockstep.run({"sim", "copy", "--on", "write-through,lab", "--size", "words=64", "--roofline", "r.svg"});
  if (result.status == 0) {
    CHECK_THAT(result.out, Catch::Contains("Roofline\n  write-through: at most 8 turns") &&
                               Catch::Contains("Roofline written to r.svg"));
    CHECK_THAT(read(lockstep.folder() / "r.svg"), Catch::Contains("<svg") && Catch::Contains("lab"));
  } else {
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.error, Catch::Contains("--roofline needs gnuplot"));
  }
  CHECK(lockstep.run({"sim", "babelstream", "--on", "cpcoh", "--roofline", "r.svg"}).status == 2);
  CHECK(lockstep.run({"sim", "mp-agent", "--on", "sc", "--roofline", "r.svg"}).status == 2);
}

TEST_CASE("what cannot be written is told, and devices stay what they are") {
  const Command lockstep;
  fs::create_symlink("real.csv", lockstep.folder() / "link.csv");
  lockstep.add("real.csv", "old");
  const std::vector<std::string> small{"sweep", "copy", "--size", "words=64", "--vary", "memory.queue=4,8",
                                       "--csv"};
  const auto with = [&](const std::string& file) {
    std::vector<std::string> arguments = small;
    arguments.push_back(file);
    return lockstep.run(arguments);
  };
  CHECK(with("link.csv").status == 0);
  CHECK(fs::is_symlink(lockstep.folder() / "link.csv"));
  CHECK_THAT(read(lockstep.folder() / "real.csv"), Catch::StartsWith("workload,"));
  CHECK(with("/dev/null").status == 0);
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(lockstep.run({"sim", "copy", "--size", "words=64", "--timeline", "/dev/null"}).status == 2);
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a machine file whose sections are none is told, not crashed on") {
  const Command lockstep;
  for (const std::string text : {"units=3\n[systems]\n", "paths=3\n[systems]\n", "units=[1]\n[systems]\n"}) {
    const std::string file = lockstep.add("m.toml", text);
    const Result result = lockstep.run({"sim", "copy", "--machine", file});
    CHECK(result.status == 2);
    CHECK_THAT(result.error, Catch::Contains("m.toml"));
  }
  CHECK(lockstep
            .run({"sim", "copy", "--set",
                  "name=a\x01"
                  "b"})
            .status == 2);
  // The default of --on is the usual variant; --cus is one of the machine's entries.
  const Result usual = lockstep.run({"sim", "mp-agent", "--on", "write-through/default", "--runs", "5"});
  CHECK_THAT(usual.out, Catch::Contains("expected never"));
  const Result varied = lockstep.run({"sweep", "copy", "--size", "words=256", "--cus", "8", "--vary",
                                      "cus=1,16", "--together", "0", "--seeds", "1", "--csv", "c.csv"});
  CHECK_THAT(varied.out, Catch::StartsWith("Sweep copy on write-through: 8 CUs\n"));
  CHECK_THAT(varied.out, !Catch::Contains("1 other, each"));
}

TEST_CASE("sim runs litmus tests again and again, and synchronization programs") {
  const Command lockstep;
  const Result test =
      lockstep.run({"sim", "mp-agent", "--on", "write-through,quick-release", "--runs", "20"});
  CHECK(test.status == 0);
  CHECK_THAT(test.out, Catch::StartsWith("Sim mp-agent: 8 CUs, 20 runs, seeds from 1\n") &&
                           Catch::Contains("write-through          in 0 of 20 runs, expected never"));
  const auto json = nlohmann::json::parse(lockstep.run({"sim", "mp-agent", "--runs", "20", "--json"}).out);
  CHECK(json.at("tests").at(0).at("systems").at(0).at("runs") == 20);
  const Result lock = lockstep.run({"sim", "ticket-lock", "--size", "threads=3"});
  CHECK(lock.status == 0);
  CHECK_THAT(lock.out, Catch::Contains("Results"));
  const auto error = [&](const std::string& name) {
    const Result result = lockstep.run({"sim", name});
    CHECK(result.status == 2);
    return result.error;
  };
  CHECK(error("mp-agnt") == "mp-agnt: error: no such file, folder or test\nhint: did you mean 'mp-agent'?\n");
  CHECK_THAT(error("stensil"), Catch::Contains("unknown workload 'stensil'") && Catch::Contains("'stencil'"));
  CHECK_THAT(error("ticket-lock/defualt"), Catch::Contains("'default'"));
  CHECK_THAT(error(lockstep.add("broken.litmus", "HRF broken\n{ x = }\n")),
             Catch::Contains("broken.litmus:"));
  CHECK_THAT(lockstep.run({"sim", "mp-agent", "--rules"}).error,
             Catch::Contains("--rules is not for litmus tests"));
}

TEST_CASE("sweep says whether a comparison stands, resumes, and writes each point") {
  const Command lockstep;
  const std::vector<std::string> small{"sweep",      "copy",      "--on",     "write-through,quick-release",
                                       "--size",     "words=256", "--vary",   "memory.queue=4..64",
                                       "--together", "4",         "--resume", "j",
                                       "--csv",      "points.csv"};
  const Result first = lockstep.run(small);
  CHECK(first.status == 0);
  CHECK_THAT(first.out, Catch::StartsWith("Sweep copy: 8 CUs\n") && Catch::Contains("memory.queue") &&
                            Catch::Contains("STAND"));
  const std::string points = read(lockstep.folder() / "points.csv");
  CHECK_THAT(points, Catch::StartsWith("workload,system,moved,end,words wrong,memory.queue,seed,"));
  CHECK(lockstep.run(small).out == first.out);
  CHECK(read(lockstep.folder() / "points.csv") == points);
  std::vector<std::string> other = small;
  other[5] = "words=128";
  const Result refused = lockstep.run(other);
  CHECK(refused.status == 2);
  CHECK_THAT(refused.error, Catch::Contains("words=256"));
  const Result json =
      lockstep.run({"sweep", "copy", "--on", "write-through,lab", "--size", "words=64", "--vary",
                    "memory.queue=4,64", "--vary", "size.waves=1,2", "--grid", "--json"});
  CHECK(json.status == 0);
  const auto read_json = nlohmann::json::parse(json.out);
  CHECK(read_json.at("schema") == "lockstep.sweep/1");
  CHECK(read_json.at("sweeps").at(0).at("together").size() == 4);
  CHECK(read_json.at("sweeps").at(0).at("conclusions").at(0).at("points") == 5);
  const Result one =
      lockstep.run({"sweep", "copy", "--size", "words=64", "--vary", "memory.latency=50..200"});
  CHECK_THAT(one.out, Catch::Contains("cycles, relative to the ") && !Catch::Contains("STAND"));
}

TEST_CASE("litmus: journals of shards give together what one run gives, and a journal is gone on with") {
  const Command lockstep;
  // Times apart.
  const std::function<nlohmann::json(nlohmann::json)> timeless = [&](nlohmann::json value) {
    if (value.is_object()) value.erase("seconds");
    if (value.is_structured()) {
      for (auto& inner : value) inner = timeless(inner);
    }
    return value;
  };
  const auto run = [&](std::vector<std::string> more, int status) {
    std::vector<std::string> words{"litmus", "mp-agent", "sb-agent", "lb-agent", "--on", "sc,write-through"};
    words.insert(words.end(), more.begin(), more.end());
    Result result = lockstep.run(words);
    INFO(result.error);
    CHECK(result.status == status);
    return result;
  };
  const auto json_of = [&](const std::vector<std::string>& more, int status = 0) {
    std::vector<std::string> words{"--json"};
    words.insert(words.end(), more.begin(), more.end());
    return timeless(nlohmann::json::parse(run(words, status).out));
  };
  const nlohmann::json whole = json_of({});
  CHECK(whole.at("tests").size() == 3);
  CHECK(json_of({"--resume", "all.journal"}) == whole);
  CHECK(json_of({"--resume", "all.journal"}) == whole);

  run({"--shard", "1/2", "--resume", "1.journal"}, 0);
  run({"--shard", "2/2", "--resume", "2.journal"}, 0);
  CHECK(json_of({"--merge", "1.journal,2.journal"}) == whole);
  const Result half = run({"--merge", "2.journal", "--summary-only"}, 3);
  CHECK_THAT(half.error, Catch::Contains("2 tests are in none of the journals"));
  CHECK_THAT(half.out, Catch::Contains("1 test on 2 systems: 1 as expected"));

  // What is in a journal is not run again: this one says that a test differs, and a line was cut off.
  std::string text = read(lockstep.folder() / "all.journal");
  const std::string expected = "\"verdict\":0";
  const auto at = text.rfind(expected);
  REQUIRE(at != std::string::npos);
  text.replace(at, expected.size(), "\"verdict\":2");
  lockstep.add("changed.journal", text + "{\"place\":0,");
  const Result changed = run({"--resume", "changed.journal", "--summary-only"}, 1);
  CHECK_THAT(changed.out, Catch::Contains("2 as expected, 1 differing"));
  CHECK_THAT(run({"--resume", "all.journal", "--against", "drf"}, 2).error,
             Catch::Contains("about another run: against"));
  CHECK_THAT(run({"--merge", "3.journal"}, 2).error, Catch::Contains("there is no journal '3.journal'"));
}

TEST_CASE("litmus: a journal of a run under models is gone on with while the models say what they said") {
  const Command lockstep;
  lockstep.add("mine.cat", "\"mine\"\ninclude \"part.cat\"\nacyclic po | part as order\n");
  lockstep.add("part.cat", "let part = rf | co | fr\n");
  const auto run = [&](std::vector<std::string> more, int status) {
    std::vector<std::string> words{"litmus",      "mp-agent", "sb-agent", "lb-agent",      "--model",
                                   "mine.cat,sc", "--on",     "sc",       "--summary-only"};
    words.insert(words.end(), more.begin(), more.end());
    Result result = lockstep.run(words);
    INFO(result.error);
    CHECK(result.status == status);
    return result;
  };
  const std::string whole = run({"--resume", "all.journal"}, 0).out;
  CHECK_THAT(whole, Catch::Contains("3 tests on 1 system under 2 models: 3 as expected"));
  run({"--shard", "1/2", "--resume", "1.journal"}, 0);
  run({"--shard", "2/2", "--resume", "2.journal"}, 0);
  const auto table = [](const std::string& text) { return text.substr(0, text.find(" tests on ")); };
  CHECK(table(run({"--merge", "1.journal,2.journal"}, 0).out) == table(whole));
  std::string text = read(lockstep.folder() / "all.journal");
  text.replace(text.rfind("\"verdict\":0"), 11, "\"verdict\":2");
  lockstep.add("changed.journal", text);
  CHECK_THAT(run({"--resume", "changed.journal"}, 1).out, Catch::Contains("2 as expected, 1 differing"));
  CHECK_THAT(run({"--resume", "all.journal", "--unroll", "2"}, 2).error,
             Catch::Contains("about another run: unroll"));
  // A file that the model includes counts as the model does.
  lockstep.add("part.cat", "let part = rf | co\n");
  CHECK_THAT(run({"--resume", "all.journal"}, 2).error, Catch::Contains("about another run: models"));
}

TEST_CASE("study lists what there is, and runs a paper's bars or a file's, with their ranges or without") {
  const Command lockstep;
  CHECK_THAT(lockstep.run({"study"}).out, Catch::Contains("quick-release") && Catch::Contains("lab"));
  const Result unknown = lockstep.run({"study", "quick-releas"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.error, Catch::Contains("'quick-release'"));
  const std::string file = lockstep.add("mine.toml",
                                        "title = \"t\"\nsource = \"s\"\nmachine = \"apu\"\n"
                                        "systems = [\"write-through/no-l1\", \"rfo\"]\n"
                                        "[[panels]]\ntitle = \"Run time\"\nfigure = \"cycles\"\n"
                                        "[[bars]]\nworkload = \"copy\"\nsizes = { words = 64 }\n");
  const Result quick = lockstep.run({"study", file, "--quick", "--csv", "points.csv"});
  CHECK(quick.status == 0);
  CHECK_THAT(quick.out, Catch::StartsWith("Study mine: t\n") && Catch::Contains("copy words=64") &&
                            Catch::Contains("Without --quick"));
  CHECK_THAT(read(lockstep.folder() / "points.csv"), Catch::StartsWith("workload,system,"));
  const Result json = lockstep.run({"study", file, "--together", "2", "--points", "2", "--json"});
  CHECK(json.status == 0);
  const auto bar = nlohmann::json::parse(json.out).at("panels").at(0).at("bars").at(0);
  CHECK(bar.at("systems").at("rfo").at("points") > 30);
  // A bar may have a machine of its own, whose entries are then not moved.
  const std::string slow = lockstep.add("slow.toml", read(file) + "settings = [\"memory.latency=150\"]\n");
  CHECK(lockstep.run({"study", slow, "--quick", "--csv", "slow.csv"}).status == 0);
  CHECK(read(lockstep.folder() / "slow.csv") != read(lockstep.folder() / "points.csv"));
  const Result settled = lockstep.run({"study", slow, "--together", "2", "--points", "2", "--json"});
  const auto other = nlohmann::json::parse(settled.out).at("panels").at(0).at("bars").at(0);
  CHECK(other.at("settings").at(0) == "memory.latency=150");
  CHECK(other.at("systems").at("rfo").at("points") < bar.at("systems").at("rfo").at("points"));
  const std::string wrong = lockstep.add("wrong.toml", "title = 1\n");
  CHECK_THAT(lockstep.run({"study", wrong}).error, Catch::Contains("wrong.toml:1:"));
  CHECK_THAT(lockstep.run({"study", "nowhere.toml"}).error, Catch::Contains("nowhere.toml"));
}

TEST_CASE("sweep refuses what it cannot vary") {
  const Command lockstep;
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sweep", "copy", "--size", "words=64"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = lockstep.run(arguments);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    return result.error;
  };
  CHECK_THAT(error({"--vary", "memory.quue=1,2"}), Catch::Contains("'queue'"));
  CHECK_THAT(error({"--vary", "memory.queue"}), Catch::Contains("says no values"));
  CHECK_THAT(error({"--vary", "memory.queue=8..4"}), Catch::Contains("'8..4' is no range"));
  CHECK_THAT(error({"--vary", "memory.queue=4..x"}), Catch::Contains("'4..x' is no range"));
  CHECK_THAT(error({"--vary", "memory.queue=4,,8"}), Catch::Contains("a value is missing"));
  CHECK_THAT(error({"--vary", "size.wrds=1,2"}), Catch::Contains("'words'"));
  CHECK_THAT(error({"--grid"}), Catch::Contains("--grid of what?"));
  CHECK_THAT(error({"--figure", "cycels"}), Catch::Contains("'cycles'"));
  CHECK_THAT(error({"--plot", "x.svg"}), Catch::Contains("--plot is for one workload on two systems"));
  CHECK_THAT(error({"--csv", "none/x.csv"}), Catch::Contains("none/x.csv"));
  CHECK_THAT(error({"--on", "cpcoh,sc"}), Catch::Contains("cannot be compared"));
  CHECK_THAT(error({"--grid", "--vary", "memory.quue=1,2"}), Catch::Contains("'queue'"));
  CHECK_THAT(error({"--grid", "--vary", "size.wrds=1,2"}), Catch::Contains("'wrds'"));
  CHECK_THAT(error({"--vary", "memory.queue=4,8", "--vary", "memory.queue=32,64"}), Catch::Contains("twice"));
  CHECK_THAT(error({"--vary", "name=x,y"}), Catch::Contains("no simulation depends on it"));
  CHECK_THAT(error({"--within", "nan"}), Catch::Contains("--within"));
  CHECK_THAT(error({"--csv", "x", "--resume", "x"}), Catch::Contains("'x' is to hold two things"));
}

TEST_CASE("sweep draws by gnuplot, or says that it is not here before anything runs") {
  const Command lockstep;
  const Result result =
      lockstep.run({"sweep", "copy", "--on", "write-through,lab", "--size", "words=64", "--vary",
                    "memory.latency=50..200", "--together", "2", "--plot", "p.svg"});
  if (result.status == 0) {
    CHECK_THAT(read(lockstep.folder() / "p.svg"),
               Catch::Contains("<svg") && Catch::Contains("memory.latency"));
  } else {
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.error, Catch::Contains("apt-get install gnuplot-nox"));
  }
}

TEST_CASE("a sweep that is interrupted prints what it has") {
  const Command lockstep;
  const Result result =
      lockstep.run({"sweep", "copy", "--on", "write-through,quick-release"}, std::chrono::seconds(3));
  CHECK(result.status == 130);
  CHECK_THAT(result.out, Catch::StartsWith("Sweep copy") && Catch::Contains("interrupted"));
}

TEST_CASE("litmus runs a test by name on the systems asked for") {
  const Command lockstep;
  const Result result = lockstep.run({"litmus", "mp-agent", "--on", "sc,quick-release"});
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Catch::StartsWith("Test mp-agent Allowed\nStates 2\n"));
  CHECK_THAT(result.out,
             Catch::Contains("System quick-release ") && !Catch::Contains("System write-through"));
  CHECK_THAT(result.out, Catch::Contains("1 test on 2 systems: 1 as expected"));
  CHECK(result.error.empty());
}

TEST_CASE("litmus says how many runs were held against the same without reductions") {
  const Command lockstep;
  const Result result = lockstep.run({"litmus", "mp-agent", "sb-agent", "--on", "quick-release",
                                      "--check-reductions", "--timeout", "60", "--summary-only"});
  CHECK(result.status == 0);
  CHECK_THAT(result.out,
             Catch::Contains("reductions: 2 runs held against the same without, 0 too large for that"));
  // Without a limit of time it might never end.
  CHECK(lockstep.run({"litmus", "mp-agent", "--check-reductions"}).status == 2);
}

TEST_CASE("litmus prints one JSON document") {
  const Command lockstep;
  const Result result = lockstep.run({"litmus", "mp-agent", "sb-agent", "--json"});
  CHECK(result.status == 0);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json.at("schema") == "lockstep.litmus/1");
  CHECK(json.at("tests").size() == 2);
  CHECK(json.at("totals").at("as_expected") == 2);
}

TEST_CASE("litmus writes what it found for other people's CI, and nothing unclear is green") {
  const Command lockstep;
  const std::string bad =
      lockstep.add("bad.litmus", "HRF bad\n{ x = 0; }\n P0@wg 0,agent 0 ;\n lod r0, x ;\n");
  const Result result =
      lockstep.run({"litmus", "chain-wg-agent", "mp-agent", bad, "--on", "quick-release/split-fifo",
                    "--junit", "j.xml", "--sarif", "s.json", "--summary-only"});
  CHECK(result.status == 2);
  boost::property_tree::ptree junit;
  boost::property_tree::read_xml((lockstep.folder() / "j.xml").string(), junit);
  const auto& suite = junit.get_child("testsuites.testsuite");
  CHECK(suite.get<int>("<xmlattr>.tests") == 3);
  CHECK(suite.get<int>("<xmlattr>.failures") == 1);
  CHECK(suite.get<int>("<xmlattr>.errors") == 1);
  std::vector<std::string> cases;
  for (const auto& [element, one] : suite) {
    if (element != "testcase") continue;
    const std::string verdict = one.count("failure") != 0 ? " fails" : one.count("error") != 0 ? " errs" : "";
    cases.push_back(one.get<std::string>("<xmlattr>.name") + verdict);
  }
  CHECK(cases ==
        std::vector<std::string>{"chain-wg-agent fails", "mp-agent", "a file that cannot be read errs"});

  const auto run = nlohmann::json::parse(std::ifstream(lockstep.folder() / "s.json")).at("runs").at(0);
  REQUIRE(run.at("results").size() == 2);
  CHECK(run.at("results").at(0).at("ruleId") == "violation");
  CHECK_THAT(run.at("results").at(0).at("message").at("text").get<std::string>(),
             Catch::Contains("chain-wg-agent") && Catch::Contains("violates hrf-indirect"));
  const auto& place = run.at("results").at(1).at("locations").at(0).at("physicalLocation");
  CHECK(place.at("artifactLocation").at("uri") == bad);
  CHECK(place.at("region").at("startLine") == 4);

  // A run that reached a limit is an error there, too.
  (void)lockstep.run(
      {"litmus", "iriw-agent", "--on", "halcone", "--timeout", "0.001", "--junit", "late.xml"});
  boost::property_tree::ptree late;
  boost::property_tree::read_xml((lockstep.folder() / "late.xml").string(), late);
  CHECK(late.get<std::string>("testsuites.testsuite.testcase.error.<xmlattr>.type") == "inconclusive");

  const Result nowhere = lockstep.run({"litmus", "mp-agent", "--junit", "none/j.xml"});
  CHECK(nowhere.status == 2);
  CHECK(nowhere.out.empty());
  CHECK_THAT(nowhere.error, Catch::Contains("none/j.xml: error: cannot be written"));

  // A run that does not begin leaves what the last one wrote.
  CHECK(lockstep.run({"litmus", "mp-agnt", "--junit", "late.xml"}).status == 2);
  CHECK(std::filesystem::file_size(lockstep.folder() / "late.xml") > 0);
}

TEST_CASE("litmus writes the verdicts of models for CI, too") {
  const Command lockstep;
  CHECK(lockstep.run({"litmus", "mp-agent", "--model", "sc,rmo", "--junit", "j.xml"}).status == 0);
  boost::property_tree::ptree junit;
  boost::property_tree::read_xml((lockstep.folder() / "j.xml").string(), junit);
  CHECK(junit.get<int>("testsuites.testsuite.<xmlattr>.tests") == 1);
  CHECK(junit.get<int>("testsuites.testsuite.<xmlattr>.failures") == 0);
}

TEST_CASE("shells are told what a word may become") {
  const Command lockstep;
  const auto words = [&](std::vector<std::string> line) {
    line.insert(line.begin(), "complete");
    const Result result = lockstep.run(line);
    CHECK(result.status == 0);
    return result.out;
  };
  CHECK(words({"che"}) == "check\n");
  CHECK(words({"--v"}) == "--version\n");
  CHECK(words({"chek", ""}).empty());
  CHECK(words({"check", "quick-r"}) == "quick-release\n");
  CHECK(words({"check", "quick-release/sp"}) == "quick-release/split-fifo\n");
  CHECK(words({"check", "quick-release", "--fault", "early"}) == "early-acknowledgement\n");
  CHECK(words({"litmus", "--on", "sc", "--fault", "early"}).empty());
  CHECK(words({"litmus", "--on", "sc,write-t"}) == "sc,write-through\n");
  CHECK(words({"litmus", "--on=sc,write-t"}) == "--on=sc,write-through\n");
  CHECK(words({"litmus", "--on", "=", "write-t"}) == "write-through\n");
  CHECK(words({"check", "halcone", "--size", "="}).find("timestamps=\n") != std::string::npos);
  CHECK(words({"litmus", "mp-agent-ung"}) == "mp-agent-unguarded\n");
  CHECK(words({"litmus", "mp-agent", "mp-agent-ung"}) == "mp-agent-unguarded\n");
  CHECK(words({"litmus", "--model", "opencl,hrf-d"}) == "opencl,hrf-direct\n");
  CHECK(words({"progress", "--scheduler", "lo"}) == "lobe\n");
  CHECK(words({"litmus", "--timeout", ""}).empty());
  CHECK(words({"litmus", "--no-reduce", ""}) == "at-once\ndead\nmoves\nstubborn\n");
  CHECK(words({"litmus", "--summ"}) == "--summary-only\n");
  CHECK(words({"replay", ""}).empty());
  CHECK(words({"compare", "sc", "write-through/no"}) == "write-through/no-l1\n");
  CHECK(words({"compare", "write-through", "write-through+early"}) ==
        "write-through+early-acknowledgement\n");
  CHECK(words({"compare", "ts"}) == "tso\n");
  // Commands of another executable are asked there.
  CHECK(words({"prove", "german", "--any"}) == "--any-size\n");
  CHECK(words({"mutate", "german", "--by", "l"}) == "lemmas\n");
}

TEST_CASE("the document on commands has them all") {
  const Command lockstep;
  const std::string document = read(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "docs" / "commands.md");
  std::istringstream names(lockstep.run({"complete", ""}).out);
  for (std::string name; std::getline(names, name);) CHECK_THAT(document, Catch::Contains("| `" + name));
}

TEST_CASE("what shells read to complete is printed, and other shells are told so") {
  const Command lockstep;
  for (const std::string shell : {"bash", "zsh", "fish"})
    CHECK_THAT(lockstep.run({"completion", shell}).out, Catch::Contains("lockstep complete "));
  const Result other = lockstep.run({"completion", "fihs"});
  CHECK(other.status == 2);
  CHECK_THAT(other.error, Catch::Contains("there is no completion for 'fihs'") && Catch::Contains("'fish'"));
}

TEST_CASE("doctor names the tools that are here and the packages of those that are not") {
  const Command lockstep;
  const auto report = nlohmann::json::parse(lockstep.run({"doctor", "--json"}).out);
  CHECK(report.at("schema") == "lockstep.doctor/1");
  CHECK(report.at("data").at("litmus").is_string());
  const auto& compiler = report.at("tools").at(2);
  CHECK(compiler.at("name") == "cc");
  CHECK_THAT(compiler.at("version").get<std::string>(), Catch::Matches("[0-9]+\\.[0-9].*"));

  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const Result bare = lockstep.run({"doctor"});
  ::setenv("PATH", path.c_str(), 1);
  CHECK(bare.status == 0);
  CHECK_THAT(bare.out, Catch::Contains("rumur   missing") &&
                           Catch::Contains("apt-get install rumur spin gcc g++ cvc5 cadical"));
}

TEST_CASE("the version is that of the headers") {
  const Command lockstep;
  const Result result = lockstep.run({"--version"});
  CHECK(result.status == 0);
  CHECK(result.out == std::string("lockstep ") + lockstep::headers_version + "\n");
}

TEST_CASE("an unreadable file is reported, the others run, and the status is 2") {
  const Command lockstep;
  const std::string bad =
      lockstep.add("bad.litmus", "HRF bad\n{ x = 0; }\n P0@wg 0,agent 0 ;\n lod r0, x ;\nexists (x == 1)\n");
  const Result result = lockstep.run({"litmus", bad, "mp-agent", "--on", "sc"});
  CHECK(result.status == 2);
  CHECK_THAT(result.error, Catch::Contains("bad.litmus:4:2: error: unknown instruction 'lod'"));
  CHECK_THAT(result.out, Catch::Contains("1 as expected") && Catch::Contains("1 error"));
}

TEST_CASE("a name in another encoding is told in JSON, too") {
  const Command lockstep;
  const Result result = lockstep.run({"litmus", "caf\xe9.litmus", "--json"});
  CHECK(result.status == 2);
  const auto errors = nlohmann::json::parse(result.out).at("errors");
  CHECK(errors.at(0) == "caf\xef\xbf\xbd.litmus: error: no such file, folder or test");
}

TEST_CASE("a violation ends with status 1 and a trace that replays") {
  const Command lockstep;
  const Result result =
      lockstep.run({"litmus", "chain-wg-agent", "--on", "quick-release/split-fifo", "--trace", "traces"});
  CHECK(result.status == 1);
  CHECK_THAT(result.out, Catch::Contains("violates hrf-indirect"));
  const Result again = lockstep.run({"replay", "traces/chain-wg-agent.quick-release-split-fifo.trace.json"});
  CHECK(again.status == 0);
  CHECK_THAT(again.out, Catch::Contains("As recorded"));
  CHECK(lockstep
            .run({"litmus", "chain-wg-agent", "--on", "quick-release/split-fifo", "--against", "hrf-direct"})
            .status == 0);
}

TEST_CASE("check holds, finds a fault, and leaves a trace that replay fires again") {
  const Command lockstep;
  const Result sound = lockstep.run({"check", "german", "--size", "node=3"});
  CHECK(sound.status == 0);
  CHECK_THAT(sound.out,
             Catch::Contains("holds in every reachable state") && Catch::Contains("Every rule fired."));
  const Result faulty = lockstep.run({"check", "german", "--size", "node=3", "--fault", "keep-copy"});
  CHECK(faulty.status == 1);
  CHECK_THAT(faulty.out, Catch::Contains("violated: ") && Catch::Contains("german.trace.json"));
  CHECK(lockstep.run({"replay", "german.trace.json"}).status == 0);
  const auto json = nlohmann::json::parse(lockstep.run({"replay", "german.trace.json", "--json"}).out);
  CHECK(json.at("as_recorded") == true);
}

TEST_CASE("check prints one JSON document, and says on stderr where the trace is") {
  const Command lockstep;
  const Result result =
      lockstep.run({"check", "german", "--fault", "keep-copy", "--trace", "t.json", "--json"});
  CHECK(result.status == 1);
  CHECK(nlohmann::json::parse(result.out).at("schema") == "lockstep.check/1");
  CHECK_THAT(result.error, Catch::Contains("t.json"));
}

TEST_CASE("prove tells of every machine that was explored, in a list") {
  const Command lockstep;
  const Result result = lockstep.run({"prove", "german", "--size", "node=2", "--explore", "5", "--json"});
  CHECK(result.status == 0);
  const nlohmann::json explored = nlohmann::json::parse(result.out).at("explored");
  REQUIRE(explored.is_array());
  REQUIRE(explored.size() == 1);
  CHECK(explored.at(0).at("complete") == true);
}

TEST_CASE("a limit ends with status 3 and what was covered") {
  const Command lockstep;
  const Result result = lockstep.run({"check", "german", "--size", "node=8", "--timeout", "0.2"});
  CHECK(result.status == 3);
  CHECK_THAT(result.out, Catch::Contains("inconclusive: out of time"));
  CHECK(lockstep.run({"check", "german", "--size", "node=8", "--memory", "0.01"}).status == 3);
}

TEST_CASE("Ctrl-C ends with status 130 and partial results, and so does SIGTERM") {
  const Command lockstep;
  for (const int signal : {SIGINT, SIGTERM}) {
    const Result check =
        lockstep.run({"check", "german", "--size", "node=8"}, std::chrono::milliseconds(400), signal);
    CHECK(check.status == 130);
    CHECK_THAT(check.out, Catch::Contains("inconclusive: interrupted"));
  }
  // Also while Z3 is at work, in one thread or in several.
  using std::chrono::milliseconds;
  for (const char* const threads : {"1", "2"}) {
    const Result prove =
        lockstep.run({"prove", "quick-release", "--explore", "0", "--threads", threads}, milliseconds(1500));
    CHECK(prove.status == 130);
    CHECK_THAT(prove.out, Catch::Contains(" skipped, "));
    const Result mutate =
        lockstep.run({"mutate", "write-through", "--by", "lemmas", "--threads", threads}, milliseconds(1500));
    CHECK(mutate.status == 130);
    CHECK_THAT(mutate.out, Catch::Contains("interrupted: ") && Catch::Contains(" mutants not begun"));
  }
}

TEST_CASE("nothing but the report is written to a pipe, and no control characters") {
  const Command lockstep;
  const Result result = lockstep.run({"litmus", "mp-wg"});
  CHECK(result.out.find('\x1b') == std::string::npos);
  CHECK(result.out.find('\r') == std::string::npos);
  CHECK(result.error.empty());
}

TEST_CASE("faults by the tests that kill them are one command") {
  const Command lockstep;
  const Result result = lockstep.run({"litmus", "--faults", "write-through", "mp-stale-agent"});
  CHECK(result.status == 1);
  CHECK_THAT(result.out, Catch::Contains("mp-stale-agent (outcome)") && Catch::Contains("ALIVE"));
  const Result json = lockstep.run({"litmus", "--faults", "write-through", "mp-stale-agent", "--json"});
  CHECK(nlohmann::json::parse(json.out).at("schema") == "lockstep.faults/1");
}

TEST_CASE("generate counts tests, names them, and writes files that litmus runs") {
  const Command lockstep;
  const Result counts = lockstep.run({"generate", "--up-to", "4", "--json"});
  CHECK(counts.status == 0);
  CHECK(nlohmann::json::parse(counts.out).at("sizes").at(0).at("tests") == 2188);
  CHECK_THAT(lockstep.run({"generate", "--list"}).out, Catch::Contains("W-po-Wag+rf+Rag-guard-R+fr.a0b0\n"));
  const std::string tests = (lockstep.folder() / "tests").string();
  CHECK(lockstep.run({"generate", "--up-to", "3", "--model", "hrf-direct", "--output", tests}).status == 0);
  const Result run = lockstep.run({"litmus", tests, "--on", "sc,write-through", "--summary-only"});
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Catch::Contains("322 tests on 2 systems: 322 as expected"));
}

TEST_CASE("generate --progress prints tables, writes tests, and says why it stopped") {
  const Command lockstep;
  const std::string tests = (lockstep.folder() / "progress").string();
  const Result tables = lockstep.run({"generate", "--progress", "--threads", "2", "--out", tests, "--json"});
  CHECK(tables.status == 0);
  const auto json = nlohmann::json::parse(tables.out);
  CHECK(json.at("schema") == "lockstep.generate-progress/1");
  REQUIRE(json.at("tables").size() == 2);
  CHECK(json.at("tables").at(1).at("programs") == 14298);
  CHECK(json.at("tables").at(1).at("violations").empty());
  CHECK(std::distance(fs::directory_iterator(tests), fs::directory_iterator()) == 132 + 13872);
  std::ostringstream text;
  text << std::ifstream(fs::path(tests) / "Wx1+Rx0.0.litmus").rdbuf();
  CHECK_THAT(text.str(), Catch::Contains("Progress=unfair:livelock, hsa:terminates"));
  CHECK_THAT(lockstep.run({"generate", "--progress", "--threads", "3"}).out,
             Catch::Contains("156           0           0  fair"));
  CHECK(lockstep.run({"generate", "--progress", "--instructions", "4", "--timeout", "0.05"}).status == 3);
  CHECK(lockstep.run({"generate", "--progress", "--threads", "3", "--instructions", "2"}).status == 2);
  CHECK(lockstep.run({"generate", "--progress", "--up-to", "4"}).status == 2);
  CHECK(lockstep.run({"generate", "--threads", "2"}).status == 2);
}

TEST_CASE("conform reports, convicts, and resumes") {
  const Command lockstep;
  const Result good = lockstep.run({"conform", "write-through", "--up-to", "3", "--resume", "j", "--json"});
  CHECK(good.status == 0);
  CHECK(nlohmann::json::parse(good.out).at("all").at("race_free") == 322);
  const Result again = lockstep.run({"conform", "write-through", "--up-to", "3", "--resume", "j"});
  CHECK_THAT(again.out, Catch::Contains("322 tests from the journal"));
  CHECK_THAT(again.out, Catch::Contains("conforms on every test"));
  const Result bad = lockstep.run(
      {"conform", "write-through", "--up-to", "3", "--fault", "early-acknowledgement", "--trace", "t.json"});
  CHECK(bad.status == 1);
  CHECK_THAT(bad.out, Catch::Contains("HRF W+ke+R+fr.a0b1") && Catch::Contains("does not conform"));
  CHECK(lockstep.run({"replay", "t.json"}).status == 0);
  const Result faults = lockstep.run({"conform", "write-through", "--up-to", "3", "--faults"});
  CHECK(faults.status == 1);  // some need longer tests
  CHECK_THAT(faults.out, Catch::Contains("W+ke+R+fr.a0b1") && Catch::Contains("ALIVE"));
}

TEST_CASE("compare tells sides apart as they are named, and refuses what cannot be compared") {
  const Command lockstep;
  const Result faulty = lockstep.run({"compare", "write-through", "write-through+early-acknowledgement",
                                      "--up-to", "3", "--no-check", "--trace", "t.json"});
  CHECK(faulty.status == 1);
  CHECK_THAT(faulty.out, Catch::Contains("   with write-through, fault early-acknowledgement\n") &&
                             Catch::Contains("forbidden by hrf-indirect"));
  CHECK(lockstep.run({"replay", "t.json"}).status == 0);
  const Result sizes = lockstep.run({"compare", "german,node=2", "german+keep-copy,node=2", "--json"});
  CHECK(sizes.status == 1);
  CHECK(nlohmann::json::parse(sizes.out).at("sides").at(1) == "german, fault keep-copy, node=2");
  CHECK(lockstep.run({"compare", "tso", "rmo", "--up-to", "4", "--tests", "mp-agent"}).status == 1);
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Result result = lockstep.run(arguments);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    return result.error;
  };
  CHECK_THAT(error({"compare", "write-through", "tso"}), Catch::Contains("lockstep conform write-through"));
  CHECK_THAT(error({"compare", "sc", "sc+"}), Catch::Contains("lacks something behind a '+'"));
  CHECK_THAT(error({"compare", "sc", "write-through+lost"}), Catch::Contains("no fault 'lost'"));
  CHECK_THAT(error({"compare", "sc", "quick-release@HEAD"}), Catch::Contains("the script of a clone"));
  CHECK_THAT(error({"compare", "sc", "write-through", "--tests", "mp-agnet"}),
             Catch::Contains("did you mean 'mp-agent'?"));
  CHECK_THAT(error({"compare", "tso", "rmo", "--race-free"}), Catch::Contains("for systems"));
  CHECK_THAT(error({"compare", "tso", "rmo", "--sim"}), Catch::Contains("models know no time"));
  CHECK_THAT(error({"compare", "sc", "write-through", "--events", "4"}), Catch::Contains("for models"));
  CHECK_THAT(error({"compare", "tso", "rmo", "--events", "40"}), Catch::Contains("cannot be looked for"));
}

TEST_CASE("models are told apart by their smallest execution") {
  const Command lockstep;
  const Result found = lockstep.run({"distinguish", "tso", "rmo", "--up-to", "4", "--json"});
  CHECK(found.status == 1);
  const auto finding = nlohmann::json::parse(found.out).at("findings").at(0);
  CHECK(finding.at("difference").at("events") == 3);
  CHECK(lockstep.run({"distinguish", "ptx-v6.0", "ptx-v7.5", "--up-to", "2"}).status == 0);
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Result result = lockstep.run(arguments);
    CHECK(result.status == 2);
    return result.error;
  };
  CHECK_THAT(error({"distinguish", "tso", "rmmo"}), Catch::Contains("did you mean 'rmo'"));
  CHECK_THAT(error({"distinguish", "tso", "tso"}), Catch::Contains("tso twice"));
  CHECK_THAT(error({"distinguish", "tso", "rmo", "--up-to", "99"}), Catch::Contains("99"));

  const Result compared = lockstep.run({"compare", "tso", "rmo", "--events", "3", "--up-to", "0", "--json"});
  CHECK(compared.status == 1);
  const auto document = nlohmann::json::parse(compared.out);
  CHECK(document.at("executions").at("found").at(0).at("test") == "rmo-not-tso");
  CHECK(document.at("outcomes").at("smallest").at("test") == "rmo-not-tso");
}

TEST_CASE("compare simulates both sides when asked, and says why where one cannot be") {
  const Command lockstep;
  const auto compare = [&](const std::string& right, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"compare", "write-through",  right,      "--up-to",
                                       "0",       "--tests",        "mp-agent", "--no-check",
                                       "--json",  "--sim=reduction"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return lockstep.run(arguments);
  };
  const Result moved = compare("write-through/no-l1", {});
  CHECK(moved.status == 1);
  const auto workload = nlohmann::json::parse(moved.out).at("counters").at("workloads").at(0);
  CHECK(workload.at("workload") == "reduction");
  CHECK(workload.at("moved").at(0).at("counter") == "cycles");
  CHECK_THAT(compare("write-through/no-l1", {"--set", "memory.quue=64"}).error,
             Catch::Contains("'write-through' cannot be simulated: ") && Catch::Contains("'queue'"));
}

TEST_CASE("progress says who ends, on lines that fit, and its lasso is replayed") {
  const Command lockstep;
  const Result table = lockstep.run({"progress", "two-wait", "ticket-lock"});
  CHECK(table.status == 1);
  CHECK_THAT(table.out, Catch::Contains("A slot fewer than work-groups"));
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 79);
  // A file that says what it expects is judged by that.
  CHECK(lockstep.run({"progress", "one-waits"}).status == 0);
  const Result hang = lockstep.run(
      {"progress", "two-wait", "--scheduler", "awg", "--set", "slots=2", "--trace", "hang.json"});
  CHECK_THAT(hang.out, Catch::Contains("Verdict      deadlock"));
  CHECK(lockstep.run({"replay", "hang.json"}).status == 0);
  const Result lasso = lockstep.run({"progress", "ticket-lock", "--with", "threads=2,rounds=0", "--scheduler",
                                     "obe", "--situation", "resident", "--trace", "lasso.json"});
  CHECK(lasso.status == 1);
  CHECK_THAT(lasso.out, Catch::Contains("round and round"));
  CHECK_THAT(lockstep.run({"replay", "lasso.json"}).out, Catch::Contains("As recorded"));
}

TEST_CASE("progress refuses what there is not, with the nearest name") {
  const Command lockstep;
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
    const Result result = lockstep.run(arguments);
    CHECK(result.status == 2);
    CHECK_THAT(result.error, Catch::Contains(why));
  };
  refused({"progress", "two-wait", "--scheduler", "obee"}, "did you mean 'obe'?");
  refused({"progress", "two-wait", "--set", "slot=2"}, "did you mean 'slots'?");
  refused({"progress", "two-wait", "--situation", "tken"}, "did you mean 'taken'?");
  refused({"progress", "two-wat"}, "did you mean 'two-wait'?");
  refused({"progress", "two-wait", "--scheduler", "awg", "--on", "lab"}, "nowhere in lab");
  refused({"progress", "ticket-lock", "--with", "threads=12"}, "needs 12 ");
  refused({"progress", "worked-example"}, "schedulers run programs");
}

TEST_CASE("list names systems, and what a system can be asked") {
  const Command lockstep;
  CHECK_THAT(lockstep.run({"list"}).out, Catch::Contains("quick-release") && Catch::Contains("german"));
  const Result one = lockstep.run({"list", "quick-release"});
  CHECK(one.status == 0);
  CHECK_THAT(one.out, Catch::Contains("split-fifo") && Catch::Contains("mask-ignored") &&
                          Catch::Contains("s-fifo1-entries"));
  CHECK_THAT(lockstep.run({"list", "tests"}).out, Catch::Contains("mp-agent"));
  CHECK_THAT(lockstep.run({"list", "rules", "halcone"}).out, Catch::Contains("L2 replaces a block"));
  CHECK(lockstep.run({"list", "--markdown", "sc"}).status == 2);
  CHECK(nlohmann::json::parse(lockstep.run({"list", "faults", "--json"}).out).at("schema") ==
        "lockstep.list/1");
}

#endif

TEST_CASE("export writes one program to stdout, or each into a folder") {
  const Command lockstep;
  const Result murphi = lockstep.run({"export", "german", "--to", "murphi", "--size", "node=2"});
  CHECK(murphi.status == 0);
  CHECK_THAT(murphi.out, Catch::Contains("rule \"grants the exclusive copy\"") &&
                             Catch::Contains("invariant \"an exclusive copy is the only copy\""));
  const std::string folder = (lockstep.folder() / "exports").string();
  const Result all = lockstep.run({"export", "sc", "--to", "promela", "--output", folder});
  CHECK(all.status == 0);
  CHECK_THAT(all.out, Catch::Contains("sc-ring-wg-agent.pml"));
  CHECK(fs::file_size(fs::path(folder) / "sc-ring-wg-agent.pml") > 1000);
  const Result cuda = lockstep.run({"export", "german", "--to", "cuda", "--size", "node=2"});
  CHECK(cuda.status == 0);
  CHECK_THAT(cuda.out, Catch::Contains("can_grants_the_exclusive_copy") && Catch::Contains("expand_kernel"));
}

TEST_CASE("crosscheck asks whom it is told to ask") {
  const Command lockstep;
  const Result asked = lockstep.run({"crosscheck", "german", "--size", "node=2", "--with", "c++"});
  INFO(asked.error);
  CHECK(asked.status == 0);
  CHECK_THAT(asked.out, Catch::Contains("c++             3390        9912  holds") &&
                            Catch::Contains("searched on") && Catch::Contains("All agree."));
}

TEST_CASE("crosscheck without a checker to ask agrees with nothing") {
  const Command lockstep;
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", lockstep.folder().c_str(), 1);
  const Result result = lockstep.run({"crosscheck", "german", "--size", "node=2", "--json"});
  ::setenv("PATH", before.c_str(), 1);
  CHECK(result.status == 2);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json.at("schema") == "lockstep.crosscheck/1");
  CHECK(json.at("runs").at(0).at("agreement") == "error");
  CHECK(json.at("runs").at(0).at("counts").at(1).at("status") == "missing");
}
