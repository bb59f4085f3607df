// The commands of `lockstep-mpi`, which mpirun begins several of: what is one process's with all, between
// them.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/mpi.hpp>
#include <climits>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/cluster/ranks.hpp"
#include "checker/support/diagnostic.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

namespace mpi = boost::mpi;
using cluster::Words;

class MpiRanks final : public cluster::Ranks {
 public:
  MpiRanks() : machine_(world_.split(machine_of_this())) {}

  [[nodiscard]] int rank() const override { return world_.rank(); }
  [[nodiscard]] int size() const override { return world_.size(); }
  [[nodiscard]] int on_this_machine() const override { return machine_.size(); }

  void exchange(const std::vector<Words>& to, std::vector<Words>& from) override {
    or_end_all([&] {
      const auto ranks = static_cast<std::size_t>(size());
      std::vector<std::size_t> sent(ranks);
      std::vector<std::size_t> given;
      for (std::size_t r = 0; r < ranks; ++r) {
        sent[r] = to[r].size();
        if (sent[r] > INT_MAX) throw std::length_error("it has more to send at once than MPI takes");
      }
      mpi::all_to_all(world_, sent, given);
      from.resize(ranks);
      std::vector<mpi::request> open;
      for (std::size_t r = 0; r < ranks; ++r) {
        from[r].resize(given[r]);
        if (r == static_cast<std::size_t>(rank())) {
          from[r] = to[r];
        } else if (given[r] != 0) {
          open.push_back(world_.irecv(static_cast<int>(r), 0, from[r].data(), static_cast<int>(given[r])));
        }
      }
      for (std::size_t r = 0; r < ranks; ++r) {
        if (r != static_cast<std::size_t>(rank()) && sent[r] != 0)
          open.push_back(world_.isend(static_cast<int>(r), 0, to[r].data(), static_cast<int>(sent[r])));
      }
      mpi::wait_all(open.begin(), open.end());
    });
  }

  Words all(const Words& mine) override {
    Words words;
    or_end_all([&] {
      words.resize(mine.size() * static_cast<std::size_t>(size()));
      mpi::all_gather(world_, mine.data(), static_cast<int>(mine.size()), words.data());
    });
    return words;
  }

 private:
  // Others wait for what this rank cannot do.
  template <class F>
  void or_end_all(F&& f) {
    constexpr int limit_reached = 3;
    try {
      f();
    } catch (const std::exception& e) {
      const std::string text = fmt::format("error: rank {}: {}\n", rank(), e.what());
      static_cast<void>(!::write(errors_, text.data(), text.size()));
      mpi::environment::abort(limit_reached);
    }
  }

  // The first rank of those that say they are on a machine of this name.
  int machine_of_this() {
    std::vector<std::string> names;
    mpi::all_gather(world_, mpi::environment::processor_name(), names);
    int first = 0;
    while (names[static_cast<std::size_t>(first)] != names[static_cast<std::size_t>(rank())]) ++first;
    return first;
  }

  int errors_ = ::dup(STDERR_FILENO);  // also of a rank that is silent
  mpi::environment environment_;
  mpi::communicator world_;
  mpi::communicator machine_;
};

// What ranks have in common is said by the first.
void be_silent() {
  for (std::FILE* const stream : {stdout, stderr}) {
    if (std::freopen("/dev/null", "w", stream) == nullptr) std::perror("/dev/null");
  }
}

// The words of the command, without the executable's.
nlohmann::json words_of_command() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  nlohmann::json words = nlohmann::json::array();
  std::string word;
  for (bool first = true; std::getline(in, word, '\0'); first = false) {
    if (!first) words.push_back(word);
  }
  return words;
}

void refuse_other_builds(cluster::Ranks& ranks) {
  const std::vector<std::string> builds = all_texts(ranks, build_identity());
  for (std::size_t r = 1; r < builds.size(); ++r) {
    if (builds[r] != builds[0])
      throw BadInput(fmt::format("rank {} is of another build than rank 0", r),
                     "all have to run the same executable");
  }
}

}  // namespace

std::vector<Command> add_commands(CLI::App& lockstep) {
  static MpiRanks ranks;
  if (ranks.rank() != 0) be_silent();
  refuse_other_builds(ranks);
  agree_on(ranks, {{"command", words_of_command()}});
  return {add_check(lockstep, &ranks)};
}

}  // namespace lockstep::cli
