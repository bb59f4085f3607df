// Searches that are kept in a folder: whoever goes on from it finds what would have been found, and a folder
// that is not what it should be is refused.
#include "checker/explore/checkpoint.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "checker/explore/explorer.hpp"
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
      CHECK(part > 2);
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
