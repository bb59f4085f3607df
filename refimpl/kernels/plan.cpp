#include "refimpl/kernels/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "refimpl/kernels/graph.hpp"
#include "spec/program/values.hpp"

namespace lockstep::kernels {

namespace {

constexpr std::int32_t most_elements = 1 << 28;
constexpr std::int64_t most_words = 1 << 24;
constexpr std::int32_t most_local = 1 << 16;
constexpr std::int32_t largest_group = 1024;
constexpr std::size_t most_launches = 4096;
constexpr std::uint64_t steps_of_main = 10'000'000;

// What main and expressions may ask for.
class Host : public LaneMemory {
 public:
  Host(Plan& plan, std::uint64_t seed) : plan_(plan), seed_(seed) {}

  void access(LaneWave&, const Step& step, Mask) override {
    fail(step.place, "only kernels access memory", "");
  }
  void fence(LaneWave&, const Step& step) override { fail(step.place, "only kernels order memory", ""); }
  void pass_time(LaneWave&, std::int32_t) override {}
  [[nodiscard]] bool holds(const LaneWave&) const override { return false; }
  [[noreturn]] void fail(SourcePlace place, const std::string& message,
                         const std::string& hint) const override {
    plan_.fail(place, message, hint);
  }
  std::int32_t random(std::uint32_t lane, std::size_t step, std::int32_t below) override {
    // SplitMix64 (Steele et al., OOPSLA 2014).
    std::uint64_t x = (seed_ + from + lane + (std::uint64_t{step} << 40U)) * 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    x ^= x >> 31U;
    return static_cast<std::int32_t>(x % static_cast<std::uint64_t>(below));
  }
  void launch(LaneWave& wave, const Step& step) override {
    Launch launch;
    launch.kernel = step.n;
    launch.items = wave.reg(step.a)[0];
    launch.group_size = wave.reg(step.b)[0];
    if (launch.items < 1)
      fail(step.place, fmt::format("{} work-items are launched", launch.items), "at least 1");
    if (launch.group_size < 1 || launch.group_size > largest_group)
      fail(step.place, fmt::format("work-groups of {} work-items", launch.group_size),
           fmt::format("1 to {}", largest_group));
    const KernelFile::Function& function = function_of(step.n);
    for (std::size_t i = 0; i < function.parameters.size(); ++i)
      launch.arguments.push_back(wave.reg(step.c + static_cast<int>(i))[0]);
    launch.groups = (launch.items - 1) / launch.group_size + 1;
    launch.waves_per_group = (std::min(launch.group_size, launch.items) - 1) / wave_lanes + 1;
    plan_.launches.push_back(std::move(launch));
    if (plan_.launches.size() > most_launches)
      fail(step.place, fmt::format("more than {} launches", most_launches), "");
  }
  std::uint64_t from = 0;  // the element that lane 0 is about

 private:
  [[nodiscard]] const KernelFile::Function& function_of(int kernel) const {
    for (const KernelFile::Function& function : plan_.file->functions) {
      if (function.is_kernel && kernel-- == 0) return function;
    }
    return plan_.file->functions.front();
  }

  Plan& plan_;
  std::uint64_t seed_;
};

class Maker {
 public:
  Maker(std::shared_ptr<const KernelFile> file, std::uint64_t seed) : source_(file->source()), seed_(seed) {
    plan_.file = std::move(file);
  }

  Plan make(const std::map<std::string, int>& sizes, const std::map<std::string, std::string>& graphs) {
    for (const KernelFile::Size& size : plan_.file->sizes) {
      const auto said = sizes.find(std::string(size.name.text));
      names_.constants.push_back(
          {std::string(size.name.text), said == sizes.end() ? size.standard : said->second});
    }
    make_graphs(graphs);
    for (const KernelFile::Array& array : plan_.file->arrays) make_array(array);
    for (const Array& array : plan_.arrays) names_.arrays.push_back(array.name);
    make_kernels();
    run_main();
    return std::move(plan_);
  }

 private:
  // ---- expressions ----

  // Its value with `i` = from, from + 1, ... in the lanes.
  Vector values(const LaneCode& code, std::int32_t from, std::int32_t count) {
    Host host(plan_, seed_ + (++drawn_ << 32U));
    host.from = static_cast<std::uint64_t>(from);
    LaneWave wave;
    wave.begin(code, count >= wave_lanes ? ~Mask{0} : (Mask{1} << static_cast<unsigned>(count)) - 1);
    for (std::int32_t lane = 0; lane < wave_lanes; ++lane) {
      wave.reg(0)[static_cast<std::size_t>(lane)] = from + lane;
    }
    std::uint64_t steps = steps_of_main;
    static_cast<void>(wave.run(host, steps));
    return wave.reg(code.result);
  }
  std::int32_t value(const litmus::Kernel& syntax, std::size_t root) {
    names_.given = {};
    return values(code_of_expression(source_, syntax, root, names_), 0, 1)[0];
  }

  // ---- graphs ----

  void make_graphs(const std::map<std::string, std::string>& files) {
    for (const auto& [name, file] : files) {
      std::vector<std::string> known;
      for (const KernelFile::MadeGraph& graph : plan_.file->graphs) known.emplace_back(graph.name.text);
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw BadInput(fmt::format("{} has no graph '{}'", plan_.file->name, name), suggestion(name, known));
    }
    for (const KernelFile::MadeGraph& graph : plan_.file->graphs) {
      const std::string name(graph.name.text);
      const auto file = files.find(name);
      Graph made = file != files.end() ? read_graph(file->second) : made_graph(graph);
      names_.constants.push_back({name + "_nodes", made.nodes()});
      names_.constants.push_back({name + "_edges", made.edges()});
      add_array(name + "_first", std::move(made.first));
      add_array(name + "_to", std::move(made.to));
      add_array(name + "_weight", std::move(made.weight));
    }
  }
  Graph made_graph(const KernelFile::MadeGraph& graph) {
    const litmus::Kernel& syntax = graph.how.syntax;
    const litmus::Expression& call = syntax.expressions[graph.how.root];
    const std::string_view rule = call.word.text;
    if (call.kind != litmus::Expression::Kind::call || (rule != "rmat" && rule != "grid"))
      source_.fail(call.word.place, "a graph is made by a rule",
                   "rmat(nodes, degree) or grid(width, height)");
    if (call.operands.size() != 2)
      source_.fail(call.word.place, fmt::format("{} takes 2 arguments, not {}", rule, call.operands.size()));
    constexpr std::int32_t most = 1 << 24;
    const std::int64_t a = value(syntax, call.operands[0]);
    const std::int64_t b = value(syntax, call.operands[1]);
    if (a < 1 || b < 1 || a * b > most)
      source_.fail(call.word.place,
                   fmt::format("{}({}, {}) is no graph of 1 to {} nodes and edges", rule, a, b, most));
    const auto x = static_cast<std::int32_t>(a);
    const auto y = static_cast<std::int32_t>(b);
    return rule == "rmat" ? rmat_graph(x, y, seed_) : grid_graph(x, y, seed_);
  }

  // ---- arrays ----

  void add_array(std::string name, std::vector<std::int32_t> data) {
    Array array;
    array.name.name = std::move(name);
    array.name.size = static_cast<std::int32_t>(data.size());
    array.initial = std::move(data);
    if (array.name.size == 0) {
      array.name.size = 1;
      array.initial = {0};
    }
    plan_.arrays.push_back(std::move(array));
  }
  void make_array(const KernelFile::Array& written) {
    Array array;
    array.name.name = std::string(written.name.text);
    array.name.local = written.local;
    array.name.padded = written.padded;
    array.checked = !written.unchecked && !written.local;
    array.name.size = value(written.size.syntax, written.size.root);
    const std::int32_t most = written.local ? most_local : most_elements;
    if (array.name.size < 1 || array.name.size > most)
      source_.fail(written.name.place, fmt::format("{} has {} elements", written.name.text, array.name.size),
                   fmt::format("1 to {}", most));
    if (written.local) {
      array.offset = plan_.local_words;
      plan_.local_words += array.name.size;
      if (plan_.local_words > most_local)
        source_.fail(written.name.place,
                     fmt::format("a work-group's own memory has at most {} elements", most_local));
    } else {
      array.initial.assign(static_cast<std::size_t>(array.name.size), 0);
      if (written.initial) fill(array, *written.initial);
    }
    words_ += plan_.words(array);
    if (words_ > most_words)
      source_.fail(written.name.place, fmt::format("arrays have more than {} words of 64 bytes", most_words));
    plan_.arrays.push_back(std::move(array));
  }
  void fill(Array& array, const KernelFile::Expression& with) {
    names_.given = {"i"};
    names_.may_draw = true;
    const LaneCode code = code_of_expression(source_, with.syntax, with.root, names_);
    names_.may_draw = false;
    const std::uint64_t draw = drawn_;
    for (std::int32_t from = 0; from < array.name.size; from += wave_lanes) {
      drawn_ = draw;
      const std::int32_t count = std::min<std::int32_t>(wave_lanes, array.name.size - from);
      const Vector all = values(code, from, count);
      std::copy_n(all.begin(), count, array.initial.begin() + from);
    }
  }

  // ---- code ----

  void make_kernels() {
    for (const KernelFile::Function& function : plan_.file->functions) {
      if (!function.is_kernel) continue;
      names_.kernels.emplace_back(function.name.text);
      names_.parameters.push_back(function.parameters.size());
    }
    for (const KernelFile::Function& function : plan_.file->functions) {
      if (!function.is_kernel) continue;
      names_.is_kernel = true;
      names_.given.clear();
      for (const litmus::Word& parameter : function.parameters) names_.given.push_back(parameter.text);
      plan_.kernels.push_back(
          code_of_function(source_, std::string(function.name.text), function.syntax, names_));
      names_.is_kernel = false;
    }
  }
  void run_main() {
    const auto& functions = plan_.file->functions;
    const auto main =
        std::find_if(functions.begin(), functions.end(), [](const auto& f) { return !f.is_kernel; });
    if (main == functions.end())
      throw BadInput(fmt::format("{} launches nothing", plan_.file->name),
                     "void main() { launch(KERNEL, WORK-ITEMS, WORK-ITEMS OF A WORK-GROUP); }");
    names_.given.clear();
    names_.may_launch = true;
    const LaneCode code = code_of_function(source_, "main", main->syntax, names_);
    names_.may_launch = false;
    Host host(plan_, seed_);
    LaneWave wave;
    wave.begin(code, 1);
    std::uint64_t steps = steps_of_main;
    if (wave.run(host, steps) != LaneWave::Stop::ended)
      source_.fail(main->name.place, fmt::format("main does not end after {} steps", steps_of_main));
    if (plan_.launches.empty()) source_.fail(main->name.place, "main launches nothing");
  }

  Plan plan_;
  litmus::Source source_;
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  std::int64_t words_ = 0;
  Names names_;
};

// All accesses at once, on plain arrays.
class FlatMemory : public LaneMemory {
 public:
  explicit FlatMemory(const Plan& plan) : plan_(plan) {
    for (const Array& array : plan.arrays) contents.push_back(array.initial);
  }

  void access(LaneWave& wave, const Step& step, Mask active) override {
    plan_.check_elements(wave, step, active);
    for_each_lane(active, [&](std::size_t lane) {
      monitor->access(static_cast<int>(wave.number), wave.reg(global_id)[lane], step, wave.reg(step.a)[lane]);
    });
    const auto n = static_cast<std::size_t>(step.n);
    const Array& array = plan_.arrays[n];
    access_elements(array.name.local ? local->data() + array.offset : contents[n].data(), wave, step, active);
  }
  void fence(LaneWave& wave, const Step& step) override {
    monitor->fence(static_cast<int>(wave.number), step);
  }
  void pass_time(LaneWave&, std::int32_t) override {}
  [[nodiscard]] bool holds(const LaneWave&) const override { return false; }
  [[noreturn]] void fail(SourcePlace place, const std::string& message,
                         const std::string& hint) const override {
    plan_.fail(place, message, hint);
  }

  std::vector<std::vector<std::int32_t>> contents;
  std::vector<std::int32_t>* local = nullptr;  // of the wave that runs
  RaceMonitor* monitor = nullptr;

 private:
  const Plan& plan_;
};

// The waves of one launch, each going on for a while in turn.
class FlatLaunch {
 public:
  FlatLaunch(const Plan& plan, const Launch& launch, FlatMemory& memory, RaceMonitor& monitor)
      : plan_(plan), launch_(launch), memory_(memory), monitor_(monitor) {
    memory.monitor = &monitor;
    places_.resize(static_cast<std::size_t>(launch.places));
    for (std::size_t p = 0; p < places_.size(); ++p) {
      places_[p].number = static_cast<int>(p);
      begin(places_[p], static_cast<int>(p));
    }
  }
  // Takes steps of those that are left. Returns whether it has ended.
  bool run(std::uint64_t& left, const std::atomic<bool>* interrupted) {
    constexpr std::uint64_t turn = 4096;
    for (bool any = true; any && !(interrupted != nullptr && *interrupted);) {
      any = false;
      for (Place& place : places_) {
        if (place.group < 0) continue;
        any = true;
        memory_.local = &place.local;
        for (std::size_t w = 0; w < place.waves.size(); ++w) {
          if (place.stopped[w] != LaneWave::Stop::spent) continue;
          std::uint64_t steps = std::min(turn, left);
          left -= steps;
          place.stopped[w] = place.waves[w].run(memory_, steps);
          left += steps;
        }
        const auto all_are = [&](auto&&... stops) {
          return std::all_of(place.stopped.begin(), place.stopped.end(),
                             [&](LaneWave::Stop s) { return ((s == stops) || ...); });
        };
        if (all_are(LaneWave::Stop::ended)) {
          begin(place, place.group + launch_.places);
        } else if (all_are(LaneWave::Stop::ended, LaneWave::Stop::barrier)) {
          check_meeting(place);
          monitor_.meet(place.number);
          std::replace(place.stopped.begin(), place.stopped.end(), LaneWave::Stop::barrier,
                       LaneWave::Stop::spent);
        }
      }
      if (any && left == 0) return false;
    }
    return true;
  }

  // A wave that has not ended.
  [[nodiscard]] SourcePlace where() const {
    for (const Place& place : places_) {
      for (std::size_t w = 0; w < place.waves.size(); ++w) {
        if (place.group >= 0 && place.stopped[w] == LaneWave::Stop::spent) return place.waves[w].place();
      }
    }
    return {};
  }

 private:
  struct Place {
    int number = 0;
    int group = -1;
    std::vector<LaneWave> waves;
    std::vector<LaneWave::Stop> stopped;
    std::vector<std::int32_t> local;
  };
  void check_meeting(const Place& place) const {
    for (std::size_t w = 0; w < place.waves.size(); ++w) {
      if (place.stopped[w] == LaneWave::Stop::ended)
        plan_.fail(
            barrier_of(place),
            fmt::format("work-group {} does not come to this barrier as a whole: wave {} of it has ended",
                        place.group, w),
            "all work-items come to a barrier, or none");
    }
  }
  static SourcePlace barrier_of(const Place& place) {
    const auto waits = std::find(place.stopped.begin(), place.stopped.end(), LaneWave::Stop::barrier);
    return place.waves[static_cast<std::size_t>(waits - place.stopped.begin())].place();
  }
  void begin(Place& place, int group) {
    if (group >= launch_.groups) {
      place.group = -1;
      place.waves.clear();
      return;
    }
    if (place.group >= 0) monitor_.begin(place.number);
    place.group = group;
    place.waves.resize(static_cast<std::size_t>(launch_.waves_per_group));
    place.stopped.assign(place.waves.size(), LaneWave::Stop::spent);
    place.local.resize(static_cast<std::size_t>(plan_.local_words));
    for (std::size_t w = 0; w < place.waves.size(); ++w) {
      begin_group(plan_, launch_, group, static_cast<int>(w), place.waves[w]);
      place.waves[w].number = static_cast<std::size_t>(place.number) * place.waves.size() + w;
    }
  }

  const Plan& plan_;
  const Launch& launch_;
  FlatMemory& memory_;
  RaceMonitor& monitor_;
  std::vector<Place> places_;
};

}  // namespace

Plan plan_of(std::shared_ptr<const KernelFile> file, const std::map<std::string, int>& sizes,
             const std::map<std::string, std::string>& graphs, std::uint64_t seed) {
  return Maker(std::move(file), seed).make(sizes, graphs);
}

void Plan::check_elements(const LaneWave& wave, const Step& step, Mask active) const {
  const Array& array = arrays[static_cast<std::size_t>(step.n)];
  const Vector& index = wave.reg(step.a);
  bool inside = true;
  for (std::size_t lane = 0; lane < wave_lanes; ++lane) {
    inside &= ((active >> lane) & 1U) == 0 ||
              static_cast<std::uint32_t>(index[lane]) < static_cast<std::uint32_t>(array.name.size);
  }
  if (inside) return;
  for_each_lane(active, [&](std::size_t lane) {
    if (index[lane] >= 0 && index[lane] < array.name.size) return;
    fail(step.place,
         fmt::format("work-item {} accesses {}[{}], and {} has {} elements", wave.reg(global_id)[lane],
                     array.name.name, index[lane], array.name.name, array.name.size));
  });
}

void begin_group(const Plan& plan, const Launch& launch, int group, int wave_of_group, LaneWave& wave) {
  const std::int64_t first = std::int64_t{group} * launch.group_size;
  const std::int32_t first_of_wave = wave_of_group * wave_lanes;
  const auto left = std::min<std::int64_t>(launch.group_size, launch.items - first) - first_of_wave;
  const Mask active = left >= wave_lanes ? ~Mask{0}
                      : left <= 0        ? Mask{0}
                                         : (Mask{1} << static_cast<unsigned>(left)) - 1;
  wave.begin(plan.kernels[static_cast<std::size_t>(launch.kernel)], active);
  for (std::size_t lane = 0; lane < wave_lanes; ++lane) {
    const std::int32_t local = first_of_wave + static_cast<std::int32_t>(lane);
    wave.reg(local_id)[lane] = local;
    wave.reg(global_id)[lane] = static_cast<std::int32_t>(first + local);
  }
  wave.reg(group_id).fill(group);
  wave.reg(global_size).fill(launch.items);
  wave.reg(local_size).fill(launch.group_size);
  wave.reg(groups).fill(launch.groups);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    wave.reg(identity_registers + static_cast<int>(i)).fill(launch.arguments[i]);
}

std::int32_t apply(const Step& step, std::int32_t& element, std::int32_t b, std::int32_t c) {
  const std::int32_t old = element;
  if (step.act == Act::store) {
    element = b;
  } else if (step.act == Act::update) {
    element = to_register(rmw_result(Numbers{}, lockstep::Update<RmwFunction, std::int64_t>{step.rmw, b, c},
                                     std::int64_t{old}));
  }
  return old;
}

void access_elements(std::int32_t* elements, LaneWave& wave, const Step& step, Mask active) {
  for_each_lane(active, [&](std::size_t lane) {
    const std::int32_t old =
        apply(step, elements[wave.reg(step.a)[lane]], step.b < 0 ? 0 : wave.reg(step.b)[lane],
              step.c < 0 ? 0 : wave.reg(step.c)[lane]);
    if (step.to >= 0) wave.reg(step.to)[lane] = old;
  });
}

FlatRun final_contents(const Plan& plan, std::uint64_t most_steps, const std::atomic<bool>* interrupted) {
  FlatRun run;
  FlatMemory memory(plan);
  std::vector<ArrayName> arrays;
  for (const Array& array : plan.arrays) arrays.push_back(array.name);
  for (std::size_t l = 0; l < plan.launches.size(); ++l) {
    const Launch& launch = plan.launches[l];
    const LaneCode& code = plan.kernels[static_cast<std::size_t>(launch.kernel)];
    RaceMonitor monitor(code, arrays, launch.places * launch.waves_per_group, launch.waves_per_group);
    const std::uint64_t steps = most_steps;
    FlatLaunch waves(plan, launch, memory, monitor);
    if (!waves.run(most_steps, interrupted))
      plan.fail(
          waves.where(), fmt::format("{} does not end after {} steps of its waves", code.name, steps),
          "only as many work-groups as the machine has room for run at once: none may wait for one that is "
          "still to come");
    run.watched &= monitor.watches();
    if (monitor.race && !run.race) {
      run.race = monitor.race;
      run.raced = static_cast<int>(l);
    }
  }
  run.contents = std::move(memory.contents);
  return run;
}

}  // namespace lockstep::kernels
