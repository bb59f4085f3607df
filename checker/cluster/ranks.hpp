// Several processes that search together, each a rank, on one machine or on many.
//
// All of them call the same functions in the same order; each returns when all have called it. What goes
// wrong on one of them must go wrong on all: see agree().
#pragma once

#include <cstdint>
#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep::cluster {

using Words = std::vector<std::uint64_t>;

class Ranks {
 public:
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  virtual ~Ranks() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // How many share this one's machine, itself among them.
  [[nodiscard]] virtual int on_this_machine() const = 0;
  // Sends words to each rank, itself among them; `from` is what each has sent to this one. Neither this nor
  // all() throws: where memory is lacking all ranks end.
  virtual void exchange(const std::vector<Words>& to, std::vector<Words>& from) = 0;
  // The words of all ranks, one rank's after the other's; all give equally many.
  virtual Words all(const Words& mine) = 0;
};

// What each rank says.
std::vector<std::string> all_texts(Ranks& ranks, const std::string& mine);
// What one of them has; all give equally many words.
Words words_of(Ranks& ranks, std::uint64_t rank, const Words& mine);

// Where some rank has an error all throw the same: the first's, as BadInput with its rank, or as what a run
// ends with (runs/limits.hpp); what is none of these as std::runtime_error.
void agree(Ranks& ranks, const std::exception_ptr& mine);
// Does what may go wrong on some rank.
template <class F>
void together(Ranks& ranks, F&& f) {
  std::exception_ptr error;
  try {
    f();
  } catch (...) {
    error = std::current_exception();
  }
  agree(ranks, error);
}
// Throws BadInput, on all ranks, where some rank has been asked for something else than the first.
void agree_on(Ranks& ranks, const nlohmann::json& asked);

}  // namespace lockstep::cluster
