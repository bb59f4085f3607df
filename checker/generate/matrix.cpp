// A pool of jobs, each a few tests: every test is built once, judged by all models, run on all systems and
// held against each. Counts are kept, and the first witnesses.
#include "checker/generate/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>

#include "checker/litmus/runner.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"
#include "checker/support/journal.hpp"

namespace lockstep::generate {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr std::size_t tests_in_piece = 64;

template <class T>
using Grid = std::vector<std::vector<T>>;

// What a piece of the tests comes to.
struct Piece {
  Grid<MatrixCell> cells;
  std::vector<std::size_t> owed;
  std::vector<std::size_t> undecided;
  std::vector<std::size_t> failed;
};

bool lacks(const std::vector<Outcome>& shown, const std::vector<Outcome>& allowed) {
  return !std::includes(shown.begin(), shown.end(), allowed.begin(), allowed.end());
}

json witness_json(const std::optional<Witness>& witness) {
  return witness ? json{witness->test, witness->outcome} : json(nullptr);
}
std::optional<Witness> witness_from(const json& in) {
  if (in.is_null()) return std::nullopt;
  return Witness{in.at(0).get<std::size_t>(), in.at(1).get<std::string>()};
}
json cell_json(const MatrixCell& cell) {
  return {cell.judged,
          cell.violations,
          cell.lacking,
          cell.inconclusive,
          witness_json(cell.violation),
          witness_json(cell.lack)};
}
MatrixCell cell_from(const json& in) {
  return {in.at(0).get<std::size_t>(), in.at(1).get<std::size_t>(), in.at(2).get<std::size_t>(),
          in.at(3).get<std::size_t>(), witness_from(in.at(4)),      witness_from(in.at(5))};
}

class Matrix {
 public:
  explicit Matrix(const MatrixOptions& options) : options_(options), limits_(options.limits.of_one()) {}

  MatrixReport run() {
    for (const Subject& system : options_.systems) report_.systems.push_back(system.description());
    for (const auto& model : options_.models) report_.models.push_back(model->name());
    report_.generate = options_.generate;
    report_.shard = options_.shard;
    const Piece none = empty();
    report_.cells = none.cells;
    report_.owed = none.owed;
    report_.undecided = none.undecided;
    report_.failed = none.failed;
    auto found = find_candidates(
        options_.generate, [](const Blueprint&) { return false; }, options_.limits, options_.on_progress);
    if (found) {
      tests_ = std::move(found->tests);
      report_.tests = tests_.size();
      run_all(found->identity);
    }
    name_witnesses();
    report_.interrupted = options_.limits.are_interrupted();
    report_.seconds = seconds();
    return std::move(report_);
  }

 private:
  struct Slot {
    Piece piece;
    bool ended = false;
  };

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  [[nodiscard]] Piece empty() const {
    const std::size_t systems = options_.systems.size();
    const std::size_t models = options_.models.size();
    return {Grid<MatrixCell>(systems, std::vector<MatrixCell>(models)), std::vector<std::size_t>(models),
            std::vector<std::size_t>(models), std::vector<std::size_t>(systems)};
  }
  [[nodiscard]] std::size_t size_of(std::size_t piece) const {
    return std::min(tests_.size(), (piece + 1) * tests_in_piece) - piece * tests_in_piece;
  }

  void run_all(const std::string& identity) {
    std::vector<Slot> slots((tests_.size() + tests_in_piece - 1) / tests_in_piece);
    const json header{{"tests", identity},
                      {"systems", report_.systems},
                      {"models", report_.models},
                      {"timeout_ms", options_.limits.time.count()},
                      {"build", options_.build}};
    const auto take = [&](const json& line) {
      Slot& slot = slots.at(line.at("piece").get<std::size_t>());
      slot.piece = piece_from(line);
      slot.ended = true;
    };
    Journal::read_all(options_.merged, "conform-matrix", header, take);
    std::optional<Journal> journal;
    if (!options_.journal.empty()) journal.emplace(options_.journal, "conform-matrix", header, take);
    std::vector<std::size_t> todo;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const bool mine = i % options_.shard.of == options_.shard.number;
      if (slots[i].ended) report_.resumed += size_of(i);
      if (mine && !slots[i].ended) todo.push_back(i);
      if (mine || slots[i].ended) report_.due += size_of(i);
    }
    std::atomic<std::size_t> done{report_.resumed};
    std::atomic<std::size_t> violated{0};
    std::mutex writing;
    const auto work = [&](std::size_t job) {
      const std::size_t number = todo[job];
      Piece piece = empty();
      for (std::size_t i = 0; i < size_of(number); ++i) {
        if (options_.limits.are_interrupted()) return;
        run_one(number * tests_in_piece + i, piece);
        if (options_.limits.are_interrupted()) return;  // it may have been stopped short
        ++done;
      }
      for (const auto& row : piece.cells) {
        for (const MatrixCell& cell : row) violated += cell.violations;
      }
      const std::lock_guard lock(writing);
      slots[number] = {std::move(piece), true};
      if (journal) journal->append(piece_json(number, slots[number].piece));
    };
    run_jobs(todo.size(), options_.limits.threads, work, [&] {
      if (options_.on_progress)
        options_.on_progress({ConformProgress::Phase::running, done, report_.due, violated, seconds()});
    });
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].ended) continue;
      report_.done += size_of(i);
      add(slots[i].piece);
    }
  }

  void run_one(std::size_t number, Piece& piece) const {
    const auto test = to_test(tests_[number]);
    std::vector<std::optional<std::vector<Outcome>>> allowed(options_.models.size());
    for (std::size_t m = 0; m < allowed.size(); ++m) {
      if (options_.models[m]->owes_nothing(tests_[number])) continue;
      const Obligation obligation = options_.models[m]->obligation(*test, limits_);
      if (obligation.owed == Owed::unknown) ++piece.undecided[m];
      if (obligation.owed != Owed::outcomes) continue;
      ++piece.owed[m];
      allowed[m] = obligation.allowed;
    }
    if (std::none_of(allowed.begin(), allowed.end(), [](const auto& one) { return one.has_value(); })) return;
    for (std::size_t s = 0; s < options_.systems.size(); ++s) {
      const SystemRun run = run_on_system(*test, options_.systems[s], limits_);
      if (run.status == RunStatus::error) ++piece.failed[s];
      for (std::size_t m = 0; m < allowed.size(); ++m) {
        if (allowed[m]) hold(*test, run, *allowed[m], number, piece.cells[s][m]);
      }
    }
  }

  // The first outcome of `all` that is not one of `others`.
  static std::string first_of(const LitmusTest& test, const std::vector<Outcome>& all,
                              const std::vector<Outcome>& others) {
    for (const Outcome& outcome : all) {
      if (!std::binary_search(others.begin(), others.end(), outcome)) return outcome_text(test, outcome);
    }
    return {};
  }

  static void hold(const LitmusTest& test, const SystemRun& run, const std::vector<Outcome>& allowed,
                   std::size_t number, MatrixCell& cell) {
    const bool violates = failed(run.status) || lacks(allowed, run.outcomes);
    if (run.status == RunStatus::error || (inconclusive(run.status) && !violates)) {
      ++cell.inconclusive;
      return;
    }
    ++cell.judged;
    if (violates) {
      ++cell.violations;
      if (!cell.violation)
        cell.violation = {number,
                          failed(run.status) ? failure_text(run) : first_of(test, run.outcomes, allowed)};
    }
    if (run.status == RunStatus::complete && lacks(run.outcomes, allowed)) {
      ++cell.lacking;
      if (!cell.lack) cell.lack = {number, first_of(test, allowed, run.outcomes)};
    }
  }

  [[nodiscard]] static json piece_json(std::size_t number, const Piece& piece) {
    json cells = json::array();
    for (const auto& row : piece.cells) {
      json line = json::array();
      for (const MatrixCell& cell : row) line.push_back(cell_json(cell));
      cells.push_back(std::move(line));
    }
    return {{"piece", number},
            {"cells", std::move(cells)},
            {"owed", piece.owed},
            {"undecided", piece.undecided},
            {"failed", piece.failed}};
  }
  [[nodiscard]] Piece piece_from(const json& in) const {
    Piece piece = empty();
    for (std::size_t s = 0; s < piece.cells.size(); ++s) {
      for (std::size_t m = 0; m < piece.cells[s].size(); ++m)
        piece.cells[s][m] = cell_from(in.at("cells").at(s).at(m));
    }
    in.at("owed").get_to(piece.owed);
    in.at("undecided").get_to(piece.undecided);
    in.at("failed").get_to(piece.failed);
    return piece;
  }

  void add(const Piece& piece) {
    const auto sum = [](std::vector<std::size_t>& all, const std::vector<std::size_t>& more) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += more.at(i);
    };
    sum(report_.owed, piece.owed);
    sum(report_.undecided, piece.undecided);
    sum(report_.failed, piece.failed);
    for (std::size_t s = 0; s < piece.cells.size(); ++s) {
      for (std::size_t m = 0; m < piece.cells[s].size(); ++m) report_.cells[s][m] += piece.cells[s][m];
    }
  }

  void name_witnesses() {
    for (const auto& row : report_.cells) {
      for (const MatrixCell& cell : row) {
        for (const auto* witness : {&cell.violation, &cell.lack}) {
          if (!*witness) continue;
          const Blueprint& test = tests_.at((*witness)->test);
          report_.names[(*witness)->test] = {name_of(test), shape_of(test)};
        }
      }
    }
  }

  const MatrixOptions& options_;
  RunLimits limits_;
  std::vector<Blueprint> tests_;
  MatrixReport report_;
  Clock::time_point start_ = Clock::now();
};

// ---- report
// ------------------------------------------------------------------------------------------------

constexpr std::size_t column = 10;

std::string witness_text(const MatrixReport& report, const std::optional<Witness>& witness,
                         std::string_view what) {
  if (!witness) return {};
  const auto& [name, shape] = report.names.at(witness->test);
  return fmt::format("    {}\n      {}{}{}\n        {}\n", what, shape, shape.empty() ? "" : ": ", name,
                     witness->outcome);
}

std::string relation_text(const MatrixReport& report, std::size_t s, std::size_t m) {
  const MatrixCell& cell = report.cells[s][m];
  const Relation is = relation(cell);
  std::string text = fmt::format("  {:<22}{:<10}", report.models[m], word(is));
  switch (is) {
    case Relation::nothing_owed:
      break;
    case Relation::equal:
      text += fmt::format("on {} tests", cell.judged);
      break;
    case Relation::weaker:
      text += fmt::format("on {} of {} tests", cell.violations, cell.judged);
      break;
    case Relation::stronger:
      text += fmt::format("on {} of {} tests", cell.lacking, cell.judged);
      break;
    case Relation::neither:
      text += fmt::format("weaker on {}, stronger on {} of {}", cell.violations, cell.lacking, cell.judged);
      break;
  }
  if (cell.inconclusive > 0) text += fmt::format(", {} not decided", cell.inconclusive);
  text += "\n";
  text += witness_text(report, cell.violation, "shows, and the model forbids");
  text += witness_text(report, cell.lack, "never shows, and the model allows");
  return text;
}

// A row a model, a column a system.
std::string grid_text(const MatrixReport& report) {
  std::string text;
  for (std::size_t s = 0; s < report.systems.size(); ++s)
    text += fmt::format("({}) {}\n", s + 1, report.systems[s]);
  text += fmt::format("{:<22}{:>8}", "", "owed");
  for (std::size_t s = 0; s < report.systems.size(); ++s)
    text += fmt::format("  {:<{}}", fmt::format("({})", s + 1), column - 2);
  while (text.ends_with(' ')) text.pop_back();
  text += "\n";
  for (std::size_t m = 0; m < report.models.size(); ++m) {
    std::string row = fmt::format("{:<22}{:>8}", report.models[m], report.owed[m]);
    for (std::size_t s = 0; s < report.systems.size(); ++s) {
      const MatrixCell& cell = report.cells[s][m];
      row +=
          fmt::format("  {:<{}}", fmt::format("{}{}", word(relation(cell)), cell.inconclusive > 0 ? "?" : ""),
                      column - 2);
    }
    while (row.ends_with(' ')) row.pop_back();
    text += row + "\n";
  }
  return text;
}

std::size_t sum_of(const std::vector<std::size_t>& all) {
  std::size_t sum = 0;
  for (const std::size_t one : all) sum += one;
  return sum;
}
std::size_t inconclusive_cells(const MatrixReport& report) {
  std::size_t sum = sum_of(report.undecided);
  for (const auto& row : report.cells) {
    for (const MatrixCell& cell : row) sum += cell.inconclusive;
  }
  return sum;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  Shard shard;
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [slash, bad_number] = std::from_chars(text.data(), end, number);
  if (bad_number == std::errc() && slash != end && *slash == '/') {
    const auto [rest, bad_of] = std::from_chars(slash + 1, end, shard.of);
    if (bad_of == std::errc() && rest == end && number >= 1 && number <= shard.of) {
      shard.number = number - 1;
      return shard;
    }
  }
  throw BadInput(fmt::format("'{}' is no shard", text), "say I/N, as 2/8 for the second of eight");
}

MatrixCell& MatrixCell::operator+=(const MatrixCell& other) {
  const auto least = [](std::optional<Witness>& first, const std::optional<Witness>& another) {
    if (another && (!first || another->test < first->test)) first = another;
  };
  judged += other.judged;
  violations += other.violations;
  lacking += other.lacking;
  inconclusive += other.inconclusive;
  least(violation, other.violation);
  least(lack, other.lack);
  return *this;
}

Relation relation(const MatrixCell& cell) {
  if (cell.judged == 0) return Relation::nothing_owed;
  if (cell.violations > 0) return cell.lacking > 0 ? Relation::neither : Relation::weaker;
  return cell.lacking > 0 ? Relation::stronger : Relation::equal;
}

std::string_view word(Relation relation) {
  constexpr std::array<std::string_view, 5> words{"-", "equal", "weaker", "stronger", "neither"};
  return words.at(static_cast<std::size_t>(relation));
}

MatrixReport conform_matrix(const MatrixOptions& options) {
  return Matrix(options).run();
}

int exit_status(const MatrixReport& report) {
  if (report.interrupted) return 130;
  if (sum_of(report.failed) > 0) return 2;
  return inconclusive_cells(report) > 0 ? 3 : 0;
}

std::string matrix_text(const MatrixReport& report) {
  std::string text = fmt::format("Conformance on {}\n", tests_text(report.generate));
  for (std::size_t s = 0; s < report.systems.size(); ++s) {
    text += fmt::format("\n{}\n", report.systems[s]);
    for (std::size_t m = 0; m < report.models.size(); ++m) text += relation_text(report, s, m);
    if (report.failed[s] > 0) text += fmt::format("  {} runs could not be made\n", report.failed[s]);
  }
  text += "\n" + grid_text(report) +
          "\nequal: shows what the model allows and nothing else. weaker: shows what it forbids.\n"
          "stronger: never shows something that it allows. neither: both. -: nothing is owed.\n"
          "owed: tests without a race, or a flag, under the model; on the others a system may\n"
          "do as it likes. All of it to this bound, of generated tests, at small sizes.\n";
  for (std::size_t m = 0; m < report.models.size(); ++m) {
    if (report.undecided[m] > 0)
      text += fmt::format("{}: on {} tests a limit was reached\n", report.models[m], report.undecided[m]);
  }
  text += "\n";
  if (report.done < report.tests) {
    text += fmt::format("{}: {} of {} tests", report.interrupted ? "interrupted" : "in part", report.done,
                        report.tests);
    if (report.shard.of > 1)
      text += fmt::format(", shard {} of {}", report.shard.number + 1, report.shard.of);
    text += "\n";
  }
  text += fmt::format("{} systems against {} models: {} tests, {:.1f} s", report.systems.size(),
                      report.models.size(), report.done, report.seconds);
  if (report.resumed > 0) text += fmt::format(", {} from journals", report.resumed);
  return text + "\n";
}

json matrix_json(const MatrixReport& report) {
  const auto named = [&](const std::optional<Witness>& witness) {
    if (!witness) return json(nullptr);
    const auto& [name, shape] = report.names.at(witness->test);
    return json{{"test", name}, {"shape", shape}, {"outcome", witness->outcome}};
  };
  json cells = json::array();
  for (std::size_t s = 0; s < report.systems.size(); ++s) {
    for (std::size_t m = 0; m < report.models.size(); ++m) {
      const MatrixCell& cell = report.cells[s][m];
      cells.push_back({{"system", report.systems[s]},
                       {"model", report.models[m]},
                       {"relation", word(relation(cell))},
                       {"judged", cell.judged},
                       {"violations", cell.violations},
                       {"lacking", cell.lacking},
                       {"inconclusive", cell.inconclusive},
                       {"violation", named(cell.violation)},
                       {"lack", named(cell.lack)}});
    }
  }
  json models = json::array();
  for (std::size_t m = 0; m < report.models.size(); ++m)
    models.push_back(
        {{"model", report.models[m]}, {"owed", report.owed[m]}, {"undecided", report.undecided[m]}});
  return {{"schema", "lockstep.conform-matrix/1"},
          {"up_to", report.generate.up_to},
          {"straight", report.generate.straight},
          {"warm", report.generate.warm},
          {"systems", report.systems},
          {"models", std::move(models)},
          {"cells", std::move(cells)},
          {"tests", report.tests},
          {"done", report.done},
          {"resumed", report.resumed},
          {"shard", {report.shard.number + 1, report.shard.of}},
          {"interrupted", report.interrupted},
          {"seconds", report.seconds}};
}

}  // namespace lockstep::generate
