// How fast tests are judged by axiomatic models, on one core by processor time: two-thread tests without
// loops end to end, from text to verdict; one test of four threads with three writes to each location, whose
// raw candidates are about two million; a lock whose loops are unrolled; and four threads of twelve accesses,
// whose executions are too many to be met.
//
//   bench/axiomatic [--repeat N]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "checker/axiomatic/model.hpp"

namespace {

using namespace lockstep;

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Text {
  std::string file;
  std::string text;
};

std::vector<Text> two_thread_tests() {
  std::vector<Text> tests;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LOCKSTEP_SOURCE_DIR "/litmus")) {
    if (entry.path().extension() == ".litmus") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream in(file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const LitmusTest test = parse_litmus(text, file.string());
    const bool client = std::find(test.tags.begin(), test.tags.end(), "client") != test.tags.end();
    bool loops = false;
    for (const Thread& thread : test.program.threads) {
      for (std::size_t pc = 0; pc < thread.code.size(); ++pc) {
        const std::int32_t target = thread.code[pc].target;
        loops = loops || thread.code[pc].waits || (target >= 0 && static_cast<std::size_t>(target) <= pc);
      }
    }
    if (test.program.threads.size() == 2 && !client && !loops)
      tests.push_back({file.string(), std::move(text)});
  }
  return tests;
}

// Three threads write both locations and read each twice, the fourth reads both: 3! x 3! x 4^8 candidates.
const char* const large = R"(HRF large
{ x = 0; y = 0; }
 P0@wg 0,agent 0         | P1@wg 1,agent 0         | P2@wg 2,agent 0         | P3@wg 3,agent 0         ;
 st.relaxed.agent x, 1   | st.relaxed.agent y, 2   | st.relaxed.agent x, 3   | ld.relaxed.agent r0, x  ;
 ld.relaxed.agent r0, y  | ld.relaxed.agent r0, x  | ld.relaxed.agent r0, y  | ld.relaxed.agent r1, y  ;
 st.relaxed.agent y, 1   | st.relaxed.agent x, 2   | st.relaxed.agent y, 3   |                         ;
 ld.relaxed.agent r1, x  | ld.relaxed.agent r1, y  | ld.relaxed.agent r1, x  |                         ;
exists (P0:r0 == 2 /\ P0:r1 == 3 /\ P1:r0 == 1 /\ P1:r1 == 3 /\ P2:r0 == 1 /\ P2:r1 == 2 /\ P3:r0 == 3 /\ P3:r1 == 0)
)";

// Two threads take a lock, spinning on the ticket that is served.
const char* const ticket_lock = R"(HRF ticket-lock
{ next = 0; now = 0; x = 0; }
 P0@wg 0,agent 0                    | P1@wg 1,agent 0                    ;
 atom.relaxed.agent.add r0, next, 1 | atom.relaxed.agent.add r0, next, 1 ;
 L: ld.acquire.agent r1, now        | L: ld.acquire.agent r1, now        ;
 bne r1, r0, L                      | bne r1, r0, L                      ;
 ld r2, x                           | ld r2, x                           ;
 add r3, r2, 1                      | add r3, r2, 1                      ;
 st x, r3                           | st x, r3                           ;
 atom.release.agent.add r4, now, 1  | atom.release.agent.add r4, now, 1  ;
exists (x == 1)
)";

// Two locations, written and read in turn.
std::string four_by_twelve() {
  std::string text = "HRF four-by-twelve\n{ x = 0; y = 0; }\n";
  text += " P0@wg 0,agent 0 | P1@wg 1,agent 0 | P2@wg 2,agent 0 | P3@wg 3,agent 0 ;\n";
  for (int line = 0; line < 12; ++line) {
    for (int t = 0; t < 4; ++t) {
      const char place = "xy"[(line / 2 + t + line) % 2];
      text += line % 2 == 0 ? fmt::format(" st.relaxed.agent {}, {}", place, 10 * t + line + 1)
                            : fmt::format(" ld.relaxed.agent r{}, {}", line / 2, place);
      text += t < 3 ? " |" : " ;\n";
    }
  }
  return text + "exists (P0:r0 == 11 /\\ P0:r2 == 1 /\\ P1:r5 == 0)\n";
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 3;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string(argv[i]) == "--repeat") repeat = std::max(1, std::atoi(argv[i + 1]));
  }
  const std::vector<Text> tests = two_thread_tests();
  fmt::print("{} two-thread tests without loops, from text to verdict; and the large ones\n", tests.size());
  for (const std::string name : {"sc", "tso", "hrf-indirect", "rc11", "ptx-v6.0", "opencl"}) {
    const AxiomaticModel model(name);
    double best = 1e9;
    const std::vector<Text> large_tests{
        {"large", large}, {"ticket lock", ticket_lock}, {"4 x 12", four_by_twelve()}};
    std::vector<double> best_large(large_tests.size(), 1e9);
    for (int i = 0; i < repeat; ++i) {
      double start = processor_seconds();
      for (const Text& one : tests) {
        const ModelRun run = judge(parse_litmus(one.text, one.file), model);
        if (run.status == RunStatus::complete) continue;
        fmt::print(stderr, "{}: {} {}\n", one.file, word(run.status), run.message);
        return 1;
      }
      best = std::min(best, processor_seconds() - start);
      for (std::size_t k = 0; k < large_tests.size(); ++k) {
        start = processor_seconds();
        const ModelRun run = judge(parse_litmus(large_tests[k].text, large_tests[k].file), model);
        best_large[k] = std::min(best_large[k], processor_seconds() - start);
        if (run.status != RunStatus::complete) {
          fmt::print(stderr, "{}: {} {}\n", large_tests[k].file, word(run.status), run.message);
          return 1;
        }
      }
    }
    fmt::print("{:<13} {:>8.0f} tests/s", name, static_cast<double>(tests.size()) / best);
    for (std::size_t k = 0; k < large_tests.size(); ++k)
      fmt::print("   {} {:>6.3f} s", large_tests[k].file, best_large[k]);
    fmt::print("\n");
  }
  return 0;
}
