// Choosing points, simulating them, and what follows.
#include "refimpl/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"
#include "checker/support/journal.hpp"
#include "checker/support/json_text.hpp"

namespace lockstep {

namespace {

constexpr std::size_t most_points = 100'000;
constexpr int halvings = 4;  // of the gap in which a sign changes

// Between two numbers in equal ratios, or from 0 in equal steps; whole where the range is.
double between(const Assumption& a, double least, double most, double share) {
  const double value = least > 0 ? least * std::pow(most / least, share) : least + share * (most - least);
  return std::clamp(a.whole ? std::round(value) : value, least, most);
}

// What the assumption is moved to, alone.
std::vector<double> choices_of(const Assumption& a, int points) {
  std::vector<double> choices;
  if (!is_range(a)) {
    for (std::size_t i = 0; i < a.values.size(); ++i) choices.push_back(static_cast<double>(i));
  } else {
    for (int i = 0; i < points; ++i)
      choices.push_back(between(a, a.least, a.most, points > 1 ? i / (points - 1.0) : 0.5));
  }
  std::erase_if(choices, [&](double c) { return a.own() && *a.own() == c; });
  choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
  return choices;
}

SweepPoint point_of(const SweepRequest& request, std::vector<std::optional<double>> choices) {
  SweepPoint point;
  for (std::size_t a = 0; a < choices.size(); ++a) {
    if (!choices[a]) continue;
    const auto settings = request.assumptions[a].settings(*choices[a]);
    point.settings.insert(point.settings.end(), settings.begin(), settings.end());
  }
  point.choices = std::move(choices);
  return point;
}

SweepPoint point_alone(const SweepRequest& request, std::size_t assumption, double choice) {
  std::vector<std::optional<double>> choices(request.assumptions.size());
  choices[assumption] = choice;
  return point_of(request, std::move(choices));
}

// Points of a Latin hypercube: each assumption's range is cut into as many parts as there are points, and
// each part is used once. Always the same ones.
std::vector<SweepPoint> points_together(const SweepRequest& request) {
  const auto count = static_cast<std::size_t>(std::max(0, request.together));
  std::mt19937_64 random(1);
  const auto up_to = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::vector<std::vector<std::optional<double>>> choices(
      count, std::vector<std::optional<double>>(request.assumptions.size()));
  for (std::size_t a = 0; a < request.assumptions.size(); ++a) {
    const Assumption& assumption = request.assumptions[a];
    std::vector<std::size_t> parts(count);
    std::iota(parts.begin(), parts.end(), 0);
    for (std::size_t i = count; i > 1; --i) std::swap(parts[i - 1], parts[up_to(i)]);
    for (std::size_t p = 0; p < count; ++p) {
      const double share = (static_cast<double>(parts[p]) + static_cast<double>(up_to(1024)) / 1024) /
                           static_cast<double>(count);
      choices[p][a] = is_range(assumption)
                          ? between(assumption, assumption.least, assumption.most, share)
                          : std::floor(share * static_cast<double>(assumption.values.size()));
    }
  }
  std::vector<SweepPoint> points;
  for (auto& one : choices) points.push_back(point_of(request, std::move(one)));
  return points;
}

std::vector<SweepPoint> points_of_grid(const SweepRequest& request) {
  std::vector<std::vector<std::optional<double>>> all(1);
  for (const Assumption& a : request.assumptions) {
    std::vector<double> choices = choices_of(a, request.points);
    if (a.own()) choices.push_back(*a.own());
    std::sort(choices.begin(), choices.end());
    std::vector<std::vector<std::optional<double>>> longer;
    for (const auto& begun : all) {
      for (const double choice : choices) {
        longer.push_back(begun);
        longer.back().emplace_back(choice);
      }
    }
    all = std::move(longer);
    if (all.size() > most_points)
      throw BadInput(fmt::format("a grid of more than {} points", most_points),
                     "vary less, or leave --grid out");
  }
  std::vector<SweepPoint> points;
  for (auto& one : all) points.push_back(point_of(request, std::move(one)));
  return points;
}

// Runs points, on several threads, and keeps what a journal knows of them.
class Runner {
 public:
  explicit Runner(const SweepRequest& request) : request_(request) {
    if (request.journal.empty()) return;
    nlohmann::json header = request.identity;
    journal_ =
        std::make_unique<Journal>(request.journal, "sweep", header, [this](const nlohmann::json& line) {
          SweepPoint point;
          point.where = line.at("where").get<std::string>();
          for (const nlohmann::json& one : line.at("results")) {
            point.results.push_back({one.at("system").get<std::string>(), one.at("end").get<std::string>(),
                                     one.at("wrong").get<int>(),
                                     one.at("figures").get<std::map<std::string, double>>()});
          }
          const auto same = [](const std::string& system, const SweepPoint::Result& r) {
            return system == r.system;
          };
          if (!std::equal(request_.systems.begin(), request_.systems.end(), point.results.begin(),
                          point.results.end(), same))
            throw std::invalid_argument("results of other systems");
          known_[key(line.at("workload").get<std::string>(), line.at("settings").get<MachineSettings>())] =
              std::move(point);
        });
  }

  // Points that move everything at once may be no machine; others have been checked.
  void run(const std::vector<SweepPoint*>& points, bool may_be_refused) {
    all_ += points.size();
    run_jobs(
        points.size(), request_.threads,
        [&](std::size_t i) {
          if (interrupted()) return;
          run_one(*points[i], may_be_refused);
        },
        [&] {
          if (request_.on_progress) request_.on_progress(done_, all_);
        });
  }
  [[nodiscard]] bool interrupted() const { return request_.interrupted != nullptr && *request_.interrupted; }

 private:
  static std::string key(const std::string& workload, const MachineSettings& settings) {
    return json_text(nlohmann::json{workload, settings});
  }

  void run_one(SweepPoint& point, bool may_be_refused) {
    if (from_journal(point)) {
      ++done_;
      return;
    }
    ComparedRun run;
    try {
      run = request_.run(point.settings);
    } catch (const BadInput& error) {
      if (!may_be_refused) throw;
      point.refused = error.diagnostic().message;
      ++done_;
      return;
    }
    if (interrupted()) return;
    take(run, point);
    const std::scoped_lock lock(mutex_);
    keep(point);
    ++done_;
  }

  static void take(const ComparedRun& run, SweepPoint& point) {
    for (const SystemResult& r : run.results) {
      SweepPoint::Result result{r.system, std::string(word(r.end)), r.wrong, {}};
      for (const auto& [name, value] : figures_of(run, r)) result.figures[name] = value;
      point.results.push_back(std::move(result));
    }
    point.where = run.where.empty() ? fmt::format("{} CU{}", run.cus, run.cus == 1 ? "" : "s") : run.where;
  }

  bool from_journal(SweepPoint& point) {
    const auto found = known_.find(key(request_.workload, point.settings));
    if (found == known_.end()) return false;
    point.results = found->second.results;
    point.where = found->second.where;
    return true;
  }

  void keep(const SweepPoint& point) {
    if (journal_ == nullptr) return;
    nlohmann::json results = nlohmann::json::array();
    for (const SweepPoint::Result& r : point.results)
      results.push_back({{"system", r.system}, {"end", r.end}, {"wrong", r.wrong}, {"figures", r.figures}});
    journal_->append({{"workload", request_.workload},
                      {"settings", point.settings},
                      {"where", point.where},
                      {"results", std::move(results)}});
  }

  const SweepRequest& request_;
  std::mutex mutex_;
  std::unique_ptr<Journal> journal_;
  std::map<std::string, SweepPoint> known_;
  std::atomic<std::size_t> done_ = 0;
  std::size_t all_ = 0;
};

// The points of one assumption that were run, right for a system, and the base where the assumption says
// which choice that is, in order.
std::vector<std::pair<double, const SweepPoint*>> along(const Sweep& sweep, std::size_t assumption,
                                                        std::size_t system) {
  std::vector<std::pair<double, const SweepPoint*>> points;
  for (const SweepPoint& point : sweep.alone) {
    if (point.choices[assumption] && point.right(system))
      points.emplace_back(*point.choices[assumption], &point);
  }
  if (const auto own = sweep.assumptions[assumption].own(); own && sweep.base.right(system))
    points.emplace_back(*own, &sweep.base);
  std::sort(points.begin(), points.end());
  return points;
}

// Halves gaps of ranges in which some system's sign changes.
std::vector<SweepPoint> halves(const SweepRequest& request, const Sweep& sweep) {
  std::vector<SweepPoint> points;
  for (std::size_t a = 0; a < sweep.assumptions.size(); ++a) {
    const Assumption& assumption = sweep.assumptions[a];
    if (!is_range(assumption)) continue;
    std::set<double> middles;
    for (std::size_t system = 1; system < sweep.systems.size(); ++system) {
      const auto known = along(sweep, a, system);
      for (std::size_t i = 0; i + 1 < known.size(); ++i) {
        if (sweep.sign(*known[i].second, system) == sweep.sign(*known[i + 1].second, system)) continue;
        const double middle = between(assumption, known[i].first, known[i + 1].first, 0.5);
        const auto refused = [&](const SweepPoint& point) {
          const auto choice = point.choices[a];
          return !point.refused.empty() && choice && *choice > known[i].first && *choice < known[i + 1].first;
        };
        if (middle > known[i].first && middle < known[i + 1].first &&
            std::none_of(sweep.alone.begin(), sweep.alone.end(), refused))
          middles.insert(middle);
      }
    }
    for (const double middle : middles) points.push_back(point_alone(request, a, middle));
  }
  return points;
}

// Of the points that move everything, the one whose ratio is farthest from the sign that the base has; null
// where all have that sign.
const SweepPoint* farthest(const Sweep& sweep, std::size_t system) {
  const Sign sign = sweep.sign(sweep.base, system);
  const SweepPoint* found = nullptr;
  const auto distance = [&](const SweepPoint& point) {
    const double log = std::log(sweep.ratio(point, system));
    return sign == Sign::less ? log : sign == Sign::more ? -log : std::abs(log);
  };
  for (const SweepPoint& point : sweep.together) {
    if (!point.right(system) || sweep.sign(point, system) == sign) continue;
    if (found == nullptr || distance(point) > distance(*found)) found = &point;
  }
  return found;
}

// Puts back, one after the other, what need not be moved for the sign to be another than the base's.
SweepPoint fewest(const SweepRequest& request, Sweep& sweep, std::size_t system, const SweepPoint& from,
                  Runner& runner) {
  SweepPoint best = from;
  for (std::size_t a = 0; a < sweep.assumptions.size() && !runner.interrupted(); ++a) {
    auto choices = best.choices;
    choices[a].reset();
    SweepPoint less = point_of(request, std::move(choices));
    if (less.settings.empty()) break;
    runner.run({&less}, true);
    if (!less.done()) continue;
    sweep.reduced.push_back(less);
    if (less.right(system) && sweep.sign(less, system) != sweep.sign(sweep.base, system))
      best = std::move(less);
  }
  return best;
}

std::size_t moved(const SweepPoint& point) {
  return static_cast<std::size_t>(std::count_if(point.choices.begin(), point.choices.end(),
                                                [](const auto& choice) { return choice.has_value(); }));
}

void check_figure(const SweepRequest& request, const Sweep& result) {
  std::vector<std::string> names;
  for (const SweepPoint::Result& r : result.base.results) {
    for (const auto& [name, value] : r.figures) names.push_back(name);
  }
  if (names.empty() || std::find(names.begin(), names.end(), request.figure) != names.end()) return;
  throw BadInput(fmt::format("no figure '{}' of {}", request.figure, request.workload),
                 suggestion(request.figure, names));
}

double figure_of(const SweepPoint& point, std::size_t system, const std::string& figure) {
  const auto& figures = point.results.at(system).figures;
  const auto found = figures.find(figure);
  return found == figures.end() ? 0 : found->second;
}

}  // namespace

Assumption seeds_from(std::uint64_t first, int count) {
  Assumption seeds;
  seeds.name = "seed";
  seeds.entries.push_back({"seed", std::to_string(first), {}});
  for (int i = 0; i < count; ++i)
    seeds.values.push_back(std::to_string(first + static_cast<std::uint64_t>(i)));
  return seeds;
}

std::vector<Assumption> concerning(std::vector<Assumption> assumptions,
                                   const std::vector<std::string>& systems) {
  const auto of_others = [&](const Assumption::Entry& entry) {
    return entry.path.starts_with("systems.") &&
           std::none_of(systems.begin(), systems.end(), [&](const std::string& system) {
             return entry.path.starts_with("systems." + system + ".");
           });
  };
  for (Assumption& a : assumptions) std::erase_if(a.entries, of_others);
  std::erase_if(assumptions, [](const Assumption& a) {
    return a.entries.empty() && a.kind != Assumption::Kind::alternatives;
  });
  return assumptions;
}

bool SweepPoint::right() const {
  bool all = done();
  for (std::size_t s = 0; s < results.size(); ++s) all = all && right(s);
  return all;
}

bool SweepPoint::right(std::size_t system) const {
  const auto is_right = [](const Result& r) { return r.end == "finished" && r.wrong == 0; };
  return done() && is_right(results.front()) && is_right(results.at(system));
}

double Sweep::ratio(const SweepPoint& point, std::size_t system) const {
  const double first = systems.size() == 1 ? figure_of(base, 0, figure) : figure_of(point, 0, figure);
  const double second = figure_of(point, system, figure);
  if (first == second) return 1;
  return first > 0 ? second / first : std::numeric_limits<double>::infinity();
}

Sign Sweep::sign(const SweepPoint& point, std::size_t system) const {
  const double r = ratio(point, system);
  return r < 1 - within ? Sign::less : r > 1 + within ? Sign::more : Sign::equal;
}

Sweep sweep(const SweepRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  Sweep result;
  result.workload = request.workload;
  result.systems = request.systems;
  result.assumptions = request.assumptions;
  result.figure = request.figure;
  result.within = request.within;
  result.grid = request.grid;
  result.base = point_of(request, std::vector<std::optional<double>>(request.assumptions.size()));
  if (request.grid) {
    result.together = points_of_grid(request);
  } else {
    for (std::size_t a = 0; a < request.assumptions.size(); ++a) {
      for (const double choice : choices_of(request.assumptions[a], request.points))
        result.alone.push_back(point_alone(request, a, choice));
    }
    result.together = points_together(request);
  }
  Runner runner(request);
  const auto check = [&](const SweepPoint& point) {
    if (!runner.interrupted()) request.check(point.settings);
  };
  for (const SweepPoint& point : result.alone) check(point);
  for (std::size_t a = 0; a < request.assumptions.size() && request.grid; ++a) {
    for (const double choice : choices_of(request.assumptions[a], request.points))
      check(point_alone(request, a, choice));
  }
  runner.run({&result.base}, false);
  check_figure(request, result);
  const auto all_of = [](std::vector<SweepPoint>& points, std::size_t from) {
    std::vector<SweepPoint*> pointers;
    for (std::size_t i = from; i < points.size(); ++i) pointers.push_back(&points[i]);
    return pointers;
  };
  runner.run(all_of(result.alone, 0), false);
  runner.run(all_of(result.together, 0), true);
  const auto refused = [](const SweepPoint& point) { return !point.refused.empty(); };
  if (request.grid && std::all_of(result.together.begin(), result.together.end(), refused))
    throw BadInput("no combination is a machine: " + result.together.front().refused);
  for (int i = 0; i < halvings && !runner.interrupted(); ++i) {
    std::vector<SweepPoint> more = halves(request, result);
    const std::size_t known = result.alone.size();
    if (more.empty()) break;
    std::move(more.begin(), more.end(), std::back_inserter(result.alone));
    runner.run(all_of(result.alone, known), true);
  }
  for (std::size_t s = 1; s < result.systems.size() && !result.grid && !runner.interrupted(); ++s) {
    const SweepPoint* from = farthest(result, s);
    if (from == nullptr || !conclusion(result, s).turns_on.empty()) continue;
    SweepPoint few = fewest(request, result, s, *from, runner);
    if (moved(few) == 1) {
      result.alone.push_back(std::move(few));  // a place between those that were tried
    } else {
      result.fewest[s] = std::move(few);
    }
  }
  result.where = result.base.where;
  result.interrupted = runner.interrupted();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Conclusion conclusion(const Sweep& sweep, std::size_t system) {
  Conclusion c;
  const auto look = [&](const SweepPoint& point) {
    if (point.right(system)) {
      const double r = sweep.ratio(point, system);
      c.least = std::min(c.least, r);
      c.most = std::max(c.most, r);
      const bool same = sweep.sign(point, system) == c.sign;
      ++c.points;
      c.holding += same ? 1 : 0;
      return same;
    }
    if (point.refused.empty()) ++(point.done() ? c.wrong : c.missing);
    return true;
  };
  if (sweep.base.right(system)) {
    c.sign = sweep.sign(sweep.base, system);
    c.least = c.most = sweep.ratio(sweep.base, system);
  }
  look(sweep.base);
  std::set<std::size_t> turns;
  for (const SweepPoint& point : sweep.alone) {
    if (look(point)) continue;
    const auto first = std::find_if(point.choices.begin(), point.choices.end(),
                                    [](const std::optional<double>& choice) { return choice.has_value(); });
    turns.insert(static_cast<std::size_t>(first - point.choices.begin()));
  }
  c.turns_on.assign(turns.begin(), turns.end());
  for (const SweepPoint& point : sweep.together) look(point);
  for (const SweepPoint& point : sweep.reduced) c.wrong += point.done() && !point.right(system) ? 1 : 0;
  return c;
}

std::string holds_where(const Sweep& sweep, std::size_t assumption, std::size_t system) {
  const auto points = along(sweep, assumption, system);
  const Assumption& a = sweep.assumptions[assumption];
  const Sign sign = sweep.sign(sweep.base, system);
  const auto holds = [&](const auto& p) { return sweep.sign(*p.second, system) == sign; };
  if (std::all_of(points.begin(), points.end(), holds)) return "everywhere";
  if (!is_range(a)) {
    std::string text;
    for (const auto& p : points) {
      if (holds(p)) text += (text.empty() ? "at " : ", ") + a.text(p.first);
    }
    return text.empty() ? "nowhere else" : text;
  }
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!holds(points[i])) continue;
    std::size_t end = i;
    while (end + 1 < points.size() && holds(points[end + 1])) ++end;
    text += text.empty() ? "" : ", ";
    text += i == end ? a.text(points[i].first)
                     : fmt::format("{} to {}", a.text(points[i].first), a.text(points[end].first));
    i = end;
  }
  return text.empty() ? "nowhere else" : text;
}

}  // namespace lockstep
