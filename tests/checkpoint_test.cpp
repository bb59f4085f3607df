// Searches that are kept in a folder: whoever goes on from it finds what would have been found, and a folder
// that is not what it should be is refused.
#include "checker/explore/checkpoint.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include "checker/explore/disk_set.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/explore/key_set.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

std::unique_ptr<Model> german(int nodes, const std::vector<std::string>& faults = {}) {
  SystemOptions options;
  options.sizes["node"] = nodes;
  options.faults = faults;
  return find_system("german").build_closed(options);
}

ExploreOptions kept_in(const fs::path& folder) {
  ExploreOptions options;
  options.checkpoint = {folder.string(), R"({"system":"german"})", std::chrono::milliseconds(0)};
  return options;
}

// Part by part: a part ends when there are this many states more than it began with.
ExploreResult in_parts(const Model& model, const fs::path& folder, std::size_t states) {
  for (unsigned part = 0;; ++part) {
    ExploreOptions options = kept_in(folder);
    options.threads = 1 + part % 3;
    options.state_limit = (part + 1) * states;
    // Checkpoints are written at the end alone, or after every round.
    if (part % 2 == 0) options.checkpoint.every = std::chrono::hours(1);
    ExploreResult result = explore(model, options);
    if (result.verdict != Verdict::out_of_memory) {
      CHECK(part > 0);
      CHECK(result.resumed_from > 0);
      return result;
    }
  }
}

std::string refused(const Model& model, const fs::path& folder) {
  try {
    explore(model, kept_in(folder));
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return "";
}

void shorten(const fs::path& file, std::uintmax_t bytes) {
  fs::resize_file(file, fs::file_size(file) - bytes);
}

void change_byte(const fs::path& file, std::uintmax_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(stream.get());
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(static_cast<char>(byte ^ 1));
}

}  // namespace

TEST_CASE("a search in parts, by any number of threads, finds what one at a stretch finds", "[threads]") {
  const auto model = german(3);
  const ExploreResult whole = explore(*model, {});
  REQUIRE(whole.states == 58'104);
  for (const std::size_t states : {1'000U, 7'777U, 20'000U}) {
    const TemporaryFolder folder;
    const ExploreResult parts = in_parts(*model, folder.path() / "kept", states);
    CHECK(parts.verdict == Verdict::holds);
    CHECK(parts.states == whole.states);
    CHECK(parts.transitions == whole.transitions);
    CHECK(parts.fired == whole.fired);
    CHECK(parts.depth == whole.depth);
    CHECK(parts.checkpoint_failed.empty());
    // And once more, of what has ended.
    const ExploreResult again = explore(*model, kept_in(folder.path() / "kept"));
    CHECK(again.verdict == Verdict::holds);
    CHECK(again.resumed_from == whole.states);
    CHECK(again.transitions == whole.transitions);
  }
}

TEST_CASE("a search in parts finds the counterexample that one at a stretch finds, and finds it again") {
  for (const Fault& fault : find_system("german").faults) {
    INFO(fault.name);
    const auto model = german(3, {std::string(fault.name)});
    const ExploreResult whole = explore(*model, {});
    REQUIRE(whole.verdict == Verdict::invariant);
    const TemporaryFolder folder;
    const std::size_t states = std::max<std::size_t>(whole.states / 5, 1);
    ExploreResult parts = in_parts(*model, folder.path(), states);
    for (int again = 0; again < 2; ++again) {
      CHECK(parts.verdict == Verdict::invariant);
      CHECK(parts.violated == whole.violated);
      CHECK(parts.transitions == whole.transitions);
      REQUIRE(parts.trace.steps.size() == whole.trace.steps.size());
      for (std::size_t i = 0; i < whole.trace.steps.size(); ++i)
        CHECK(parts.trace.steps[i].state == whole.trace.steps[i].state);
      parts = explore(*model, kept_in(folder.path()));
    }
  }
}

TEST_CASE("a folder that is about something else, damaged or in use is refused, and says why") {
  const auto model = german(3);
  const TemporaryFolder folder;
  const fs::path kept = folder.path() / "kept";
  ExploreOptions some = kept_in(kept);
  some.state_limit = 20'000;
  REQUIRE(explore(*model, some).verdict == Verdict::out_of_memory);
  const auto copy = [&](const std::string& name) {
    fs::copy(kept, folder.path() / name, fs::copy_options::recursive);
    return folder.path() / name;
  };
  CHECK(refused(*model, kept).empty());

  ExploreOptions other = kept_in(kept);
  other.checkpoint.about = R"({"system":"german","sizes":{"node":4}})";
  CHECK_THROWS_WITH(
      explore(*model, other),
      Catch::Contains("about another search: sizes: it has 'nothing', this run '{\"node\":4}'"));
  {
    const Checkpoint open(kept.string(), R"({"system":"german"})");
    CHECK_THAT(refused(*model, kept), Catch::Contains("another process keeps its checkpoints there"));
  }
  for (const std::string name : {"states", "discoveries", "parts"}) {
    INFO(name);
    const fs::path cut = copy("cut-" + name);
    shorten(cut / name, 3);
    CHECK_THAT(refused(*model, cut), Catch::Contains("damaged: 3 bytes are missing"));
    for (const std::uintmax_t at : {std::uintmax_t{0}, fs::file_size(kept / name) - 1}) {
      const fs::path changed = copy("changed-" + name + std::to_string(at));
      change_byte(changed / name, at);
      CHECK_THAT(refused(*model, changed), Catch::Contains("damaged"));
    }
    // What was written after the checkpoint does not count.
    const fs::path longer = copy("longer-" + name);
    std::ofstream(longer / name, std::ios::app) << "more";
    CHECK(refused(*model, longer).empty());
  }
  const fs::path no_checkpoint = copy("no-checkpoint");
  std::ofstream(no_checkpoint / "checkpoint.json") << "{}";
  CHECK_THAT(refused(*model, no_checkpoint), Catch::Contains("this is no checkpoint"));
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "text";
  CHECK_THAT(refused(*model, file), Catch::Contains("checkpoints are kept in a folder"));
}

// ---- more than memory ------------------------------------------------------------------------------------

TEST_CASE("a set of keys on disk holds what was added to it, once, however often it is added to") {
  const TemporaryFolder folder;
  std::mt19937_64 random(3);
  DiskSet disk(folder.path().string());
  std::set<StateKey> model;
  const auto some_key = [&] { return random() % 500 << 32 | random() % 500; };
  for (int round = 0; round < 6; ++round) {
    KeySet keys;
    for (int i = 0; i < round * 20'000; ++i) {
      const StateKey key = some_key();
      keys.insert(key);
      model.insert(key);
      if (keys.wants_shards()) keys.cut_into_shards();
    }
    disk.add(keys);
    REQUIRE(disk.size() == model.size());
    std::vector<StateKey> asked;
    for (int i = 0; i < 10'000; ++i) asked.push_back(some_key());
    const std::vector<bool> holds = disk.holds(asked);
    for (std::size_t i = 0; i < asked.size(); ++i) REQUIRE(holds[i] == model.contains(asked[i]));
  }
}

TEST_CASE("where memory is full, a search that has a folder goes on on disk, and finds the same",
          "[threads]") {
  const auto model = german(4);
  const ExploreResult whole = explore(*model, {});
  for (const unsigned threads : {1U, 2U}) {
    const TemporaryFolder folder;
    ExploreOptions options = kept_in(folder.path());
    options.threads = threads;
    options.memory_limit = whole.memory / 5 * 4;
    options.checkpoint.every = std::chrono::hours(1);
    const ExploreResult small = explore(*model, options);
    CHECK(small.verdict == Verdict::holds);
    CHECK(small.on_disk > whole.states / 4);
    CHECK(small.on_disk <= whole.states);
    CHECK(small.states == whole.states);
    CHECK(small.transitions == whole.transitions);
    CHECK(small.fired == whole.fired);
    CHECK(small.depth == whole.depth);
    // Without a folder it has no verdict.
    options.checkpoint.folder.clear();
    CHECK(explore(*model, options).verdict == Verdict::out_of_memory);
  }
}

TEST_CASE(
    "a search on disk is interrupted and goes on, also with less memory, and finds a counterexample as "
    "short") {
  // Found late: after most of the states.
  const auto model = german(4, {"keep-copy"});
  const ExploreResult whole = explore(*model, {});
  REQUIRE(whole.verdict == Verdict::invariant);
  const TemporaryFolder folder;
  ExploreOptions options = kept_in(folder.path());
  options.checkpoint.every = std::chrono::hours(1);
  options.memory_limit = whole.memory / 3;
  for (const std::size_t states : {whole.states / 2, whole.states * 3 / 4}) {
    options.state_limit = states;
    CHECK(explore(*model, options).verdict == Verdict::out_of_memory);
  }
  options.state_limit = 0;
  const ExploreResult result = explore(*model, options);
  CHECK(result.verdict == Verdict::invariant);
  CHECK(result.states == whole.states);
  CHECK(result.on_disk > 0);
  REQUIRE(result.trace.steps.size() == whole.trace.steps.size());
  for (std::size_t i = 0; i < whole.trace.steps.size(); ++i)
    CHECK(result.trace.steps[i].state == whole.trace.steps[i].state);
}
