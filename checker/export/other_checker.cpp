// Rumur: model -> C -> verifier, which prints XML. SPIN: model -> C -> pan, which prints text. The search of
// search.cu: C++ -> a program, which prints text.
#include "checker/export/other_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <optional>
#include <regex>
#include <string>

#include "checker/support/process.hpp"

namespace lockstep {

namespace {

namespace fs = std::filesystem;
using Version = std::array<int, 3>;

// The oldest that the exports have been tried with.
constexpr Version oldest_rumur{2022, 8, 20};
constexpr Version oldest_spin{6, 5, 2};
Version oldest(Checker checker) {
  return checker == Checker::rumur ? oldest_rumur : oldest_spin;
}

std::string compiler(const char* variable = "CC", const char* otherwise = "cc") {
  const char* chosen = std::getenv(variable);
  return chosen != nullptr && *chosen != '\0' ? chosen : otherwise;
}

std::string first_lines(const std::string& text, std::size_t most = 3) {
  std::string lines;
  std::size_t from = 0;
  while (from < text.size() && most > 0) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    if (end > from) {
      lines += (lines.empty() ? "" : "\n") + text.substr(from, end - from);
      --most;
    }
    from = end + 1;
  }
  return lines;
}

Count failure(CountStatus status, std::string message) {
  Count count;
  count.status = status;
  count.message = std::move(message);
  return count;
}

// A step of a checker's work. Nothing where it went as it should.
class Steps {
 public:
  Steps(const fs::path& folder, const CountOptions& options) : folder_(folder), options_(options) {}

  // `fits`: whether the exit status is one that the program gives when all is well.
  template <class Fits>
  std::optional<Count> run(std::vector<std::string> command, const std::string& what, Fits&& fits) {
    const std::string program = command.front();
    result = run_process({std::move(command), folder_, options_.time, options_.interrupted});
    seconds += result.seconds;
    switch (result.end) {
      case ProcessResult::End::missing:
        return failure(CountStatus::missing, fmt::format("{} is not installed", program));
      case ProcessResult::End::out_of_time:
        return failure(CountStatus::out_of_time,
                       fmt::format("{} took more than {:.0f} s", what,
                                   std::chrono::duration<double>(options_.time).count()));
      case ProcessResult::End::interrupted:
        return failure(CountStatus::interrupted, "interrupted");
      case ProcessResult::End::crashed:
        return failure(CountStatus::crashed, fmt::format("{} was ended by signal {}", what, result.status));
      case ProcessResult::End::exited:
        break;
    }
    if (fits(result.status)) return std::nullopt;
    return failure(CountStatus::unexpected, fmt::format("{} ended with status {}: {}", what, result.status,
                                                        first_lines(result.output)));
  }
  std::optional<Count> run(std::vector<std::string> command, const std::string& what) {
    return run(std::move(command), what, [](int status) { return status == 0; });
  }

  ProcessResult result;
  double seconds = 0;

 private:
  fs::path folder_;
  const CountOptions& options_;
};

std::optional<Count> check_version(Checker checker, Steps& steps) {
  const std::string program(word(checker));
  const auto any = [](int) { return true; };
  if (auto failed = steps.run({program, checker == Checker::rumur ? "--version" : "-V"}, program, any)) {
    if (failed->status == CountStatus::missing)
      failed->message += fmt::format(" (Debian package {})", program);
    return failed;
  }
  if (!too_old(checker, steps.result.output)) return std::nullopt;
  const Version least = oldest(checker);
  return failure(CountStatus::too_old,
                 fmt::format("'{}' is older than {}.{}.{}, with which the exports have been tried",
                             first_lines(steps.result.output, 1), least[0], least[1], least[2]));
}

// Compilers take minutes over a large verifier at -O2, and small searches do not repay it.
std::string optimisation(bool large, std::uint64_t states) {
  if (!large) return "-O3";
  if (states != 0 && states < 20'000) return "-O0";
  return "-O1";
}
constexpr std::uintmax_t large_rumur = 1'000'000;  // bytes of C
constexpr std::uintmax_t large_spin = 200'000;
constexpr std::size_t large_search = 400'000;

Count with_rumur(const std::string& text, std::size_t claims, const fs::path& folder,
                 const CountOptions& options) {
  Steps steps(folder, options);
  if (auto failed = check_version(Checker::rumur, steps)) return *failed;
  write_file(folder / "model.m", text);
  if (auto failed = steps.run({"rumur", "--output-format", "machine-readable", "--symmetry-reduction", "off",
                               "--deadlock-detection", "off", "--counterexample-trace", "off", "--threads",
                               "1", "--value-type", "int32_t", "--output", "model.c", "model.m"},
                              "rumur")) {
    return *failed;
  }
  if (auto failed =
          steps.run({compiler(), "-std=c11", "-w",
                     optimisation(fs::file_size(folder / "model.c") > large_rumur, options.expected_states),
                     "-march=native", "model.c", "-o", "verifier", "-lpthread", "-latomic", "-mcx16"},
                    "compiling Rumur's verifier")) {
    return *failed;
  }
  const double preparation = steps.seconds;
  // Claims that no state satisfies count as errors to Rumur.
  if (auto failed = steps.run({(folder / "verifier").string()}, "Rumur's verifier",
                              [](int status) { return status == 0 || status == 1; })) {
    return *failed;
  }
  Count count = options.purpose == Purpose::count ? read_rumur(steps.result.output, claims)
                                                  : read_rumur_verdict(steps.result.output);
  count.seconds = steps.result.seconds;
  count.preparation = preparation;
  return count;
}

Count with_spin(const std::string& text, const PromelaStart& start, std::size_t claims,
                const fs::path& folder, const CountOptions& options) {
  Steps steps(folder, options);
  if (auto failed = check_version(Checker::spin, steps)) return *failed;
  write_file(folder / "model.pml", text);
  if (auto failed = steps.run({"spin", "-a", "model.pml"}, "spin")) return *failed;
  const std::size_t memory = options.memory != 0 ? options.memory : std::size_t{4} << 30;
  std::vector<std::string> compile{
      compiler(),
      "-w",
      optimisation(fs::file_size(folder / "pan.m") > large_spin, options.expected_states),
      "-march=native",
      "-DSAFETY",
      "-DNOREDUCE",
      "-DNOCOMP",
      "-DPRINTF",
      "-DVECTORSZ=65536",
      fmt::format("-DMEMLIM={}", std::max<std::size_t>(64, memory >> 20)),
      "pan.c",
      "-o",
      "pan"};
  if (auto failed = steps.run(compile, "compiling SPIN's verifier")) return *failed;
  const double preparation = steps.seconds;
  // No path is longer than there are states; a stack of more than these would not fit.
  const std::uint64_t states = options.expected_states != 0 ? options.expected_states : 1'000'000;
  const std::uint64_t depth = std::clamp<std::uint64_t>(2 * states + 100, 10'000, 20'000'000);
  const int hash = std::clamp(static_cast<int>(std::bit_width(states)), 10, 28);
  std::vector<std::string> search{(folder / "pan").string(), fmt::format("-m{}", depth),
                                  fmt::format("-w{}", hash), "-n"};
  search.emplace_back(options.purpose == Purpose::count ? "-c0" : "-c1");
  if (auto failed = steps.run(search, "SPIN's verifier")) return *failed;
  Count count = options.purpose == Purpose::count ? read_spin(steps.result.output, start, claims)
                                                  : read_spin_verdict(steps.result.output);
  count.seconds = steps.result.seconds;
  count.preparation = preparation;
  return count;
}

Count with_search(Checker checker, const std::string& text, std::size_t claims, const fs::path& folder,
                  const CountOptions& options) {
  Steps steps(folder, options);
  write_file(folder / "model.cu", text);
  const std::string level = text.size() > large_search ? "-O1" : "-O3";
  const std::vector<std::string> compile =
      checker == Checker::cuda
          ? std::vector<std::string>{"nvcc", level, "-w",       "-std=c++20", "-arch=native",
                                     "-x",   "cu",  "model.cu", "-o",         "search"}
          : std::vector<std::string>{compiler("CXX", "c++"),
                                     level,
                                     "-w",
                                     "-std=c++20",
                                     "-march=native",
                                     "-pthread",
                                     "-x",
                                     "c++",
                                     "model.cu",
                                     "-o",
                                     "search"};
  if (auto failed = steps.run(compile, "compiling the search")) return *failed;
  const double preparation = steps.seconds;
  std::vector<std::string> search{(folder / "search").string()};
  if (options.expected_states != 0 && options.purpose == Purpose::count) {
    search.insert(search.end(), {"--states", std::to_string(options.expected_states)});
  } else if (options.memory != 0 && checker == Checker::cplusplus) {
    search.insert(search.end(),
                  {"--memory", std::to_string(std::max<std::size_t>(64, options.memory >> 20))});
  }
  // It ends with 1 where a failure ended it and with 3 where its table is full.
  if (auto failed = steps.run(search, "the search",
                              [](int status) { return status == 0 || status == 1 || status == 3; })) {
    return *failed;
  }
  Count count = read_search(steps.result.output, claims);
  count.preparation = preparation;
  return count;
}

// With acceptance cycles and weak fairness, which SPIN's partial-order reduction is not combined with.
Count spin_cycles(const std::string& text, const fs::path& folder, const CountOptions& options) {
  Steps steps(folder, options);
  if (auto failed = check_version(Checker::spin, steps)) return *failed;
  write_file(folder / "model.pml", text);
  if (auto failed = steps.run({"spin", "-a", "model.pml"}, "spin")) return *failed;
  const std::size_t memory = options.memory != 0 ? options.memory : std::size_t{4} << 30;
  if (auto failed = steps.run(
          {compiler(), "-w",
           optimisation(fs::file_size(folder / "pan.m") > large_spin, options.expected_states), "-DNOREDUCE",
           "-DNFAIR=4", "-DVECTORSZ=65536",
           fmt::format("-DMEMLIM={}", std::max<std::size_t>(64, memory >> 20)), "pan.c", "-o", "pan"},
          "compiling SPIN's verifier")) {
    return *failed;
  }
  const double preparation = steps.seconds;
  if (auto failed =
          steps.run({(folder / "pan").string(), "-a", "-f", "-m10000000", "-w22", "-n"}, "SPIN's verifier")) {
    return *failed;
  }
  const std::string& output = steps.result.output;
  Count count;
  count.seconds = steps.result.seconds;
  count.preparation = preparation;
  if (output.find("max search depth too small") != std::string::npos)
    return failure(CountStatus::out_of_memory, "SPIN's search went deeper than its stack");
  if (output.find("errors: 0") != std::string::npos &&
      output.find("Full statespace search") != std::string::npos)
    return count;
  if (output.find("acceptance cycle") == std::string::npos) {
    return failure(CountStatus::unexpected, "SPIN's verifier printed no verdict: " + first_lines(output));
  }
  count.failed = true;
  return count;
}

// The number before a text such as " states, stored"; the last one printed.
std::optional<std::uint64_t> number_before(const std::string& output, std::string_view text) {
  const std::size_t at = output.rfind(text);
  if (at == std::string::npos) return std::nullopt;
  std::size_t from = at;
  while (from > 0 && output[from - 1] >= '0' && output[from - 1] <= '9') --from;
  if (from == at) return std::nullopt;
  return std::strtoull(output.substr(from, at - from).c_str(), nullptr, 10);
}

}  // namespace

std::string_view word(Checker checker) {
  constexpr std::array<std::string_view, all_checkers.size()> words{"rumur", "spin", "c++", "cuda"};
  return words.at(static_cast<std::size_t>(checker));
}
std::string_view language(Checker checker) {
  return checker == Checker::rumur ? "murphi" : checker == Checker::spin ? "promela" : "cuda";
}
std::string export_for(Checker checker, const recorded::WholeDescription& whole,
                       const std::vector<Claim>& claims, const ExportOptions& options) {
  return checker == Checker::rumur  ? export_murphi(whole, claims, options)
         : checker == Checker::spin ? export_promela(whole, claims, options)
                                    : export_cuda(whole, claims, options);
}
std::string_view word(CountStatus status) {
  constexpr std::array<std::string_view, 8> words{"complete",      "missing", "too old",    "out of time",
                                                  "out of memory", "crashed", "unexpected", "interrupted"};
  return words.at(static_cast<std::size_t>(status));
}

bool too_old(Checker checker, const std::string& version_text) {
  static const std::regex numbers(R"((\d+)\.(\d+)\.(\d+))");
  std::smatch found;
  if (!std::regex_search(version_text, found, numbers)) return true;
  Version version{};
  for (std::size_t i = 0; i < version.size(); ++i) version[i] = std::atoi(found[i + 1].str().c_str());
  return version < oldest(checker);
}

Count read_search(const std::string& output, std::size_t claims) {
  static const std::regex place(R"(on (.*), a table of )");
  static const std::regex line(R"((states|firings) (\d+))");
  static const std::regex seconds(R"(seconds ([0-9.]+))");
  static const std::regex claim(R"(claim (\d+) (\d+) )");
  if (output.find("the table is full") != std::string::npos)
    return failure(CountStatus::out_of_memory, "the table of the search is full");
  std::smatch found;
  Count count;
  if (std::regex_search(output, found, place)) count.note = fmt::format("searched on {}", found[1].str());
  std::size_t numbers = 0;
  for (std::sregex_iterator at(output.begin(), output.end(), line), end; at != end; ++at, ++numbers)
    ((*at)[1] == "states" ? count.states : count.firings) = std::stoull((*at)[2]);
  for (std::sregex_iterator at(output.begin(), output.end(), claim), end; at != end; ++at) {
    if (std::stoull((*at)[1]) == count.claims.size()) count.claims.push_back(std::stoull((*at)[2]));
  }
  count.failed = output.ends_with("\nfailed\n");
  if (numbers != 2 || count.claims.size() != claims || !std::regex_search(output, found, seconds) ||
      (!count.failed && !output.ends_with("\ncomplete\n"))) {
    return failure(CountStatus::unexpected, "the search printed no counts: " + first_lines(output));
  }
  count.seconds = std::strtod(found[1].str().c_str(), nullptr);
  return count;
}

Count read_rumur(const std::string& output, std::size_t claims) {
  static const std::regex summary(R"re(<summary states="(\d+)" rules_fired="(\d+)" errors="(\d+)")re");
  static const std::regex cover(R"re(<cover_result message="[^"]*" count="(\d+)"/>)re");
  static const std::regex error("<error [^>]*>\\s*<message>([^<]*)</message>");
  std::smatch found;
  Count count;
  // An error ends the search early: a value outside of its range, for one.
  if (std::regex_search(output, found, error)) {
    return failure(CountStatus::unexpected, "Rumur found an error in the export: " + found[1].str());
  }
  if (!std::regex_search(output, found, summary)) {
    return failure(CountStatus::unexpected, "Rumur's verifier printed no summary: " + first_lines(output));
  }
  count.states = std::stoull(found[1]);
  count.firings = std::stoull(found[2]);
  const std::uint64_t errors = std::stoull(found[3]);
  std::uint64_t silent = 0;
  for (std::sregex_iterator at(output.begin(), output.end(), cover), end; at != end; ++at) {
    count.claims.push_back(std::stoull((*at)[1]));
    silent += count.claims.back() == 0 ? 1 : 0;
  }
  if (count.claims.size() != claims || errors != silent) {
    return failure(CountStatus::unexpected, fmt::format("Rumur reports {} errors and counts {} of {} claims",
                                                        errors, count.claims.size(), claims));
  }
  return count;
}

Count read_rumur_verdict(const std::string& output) {
  static const std::regex summary(R"re(<summary states="\d+" rules_fired="\d+" errors="(\d+)")re");
  static const std::regex message("<message>([^<]*)</message>");
  static const std::regex failed("invariant .* failed");
  std::smatch found;
  if (!std::regex_search(output, found, summary)) {
    return failure(CountStatus::unexpected, "Rumur's verifier printed no summary: " + first_lines(output));
  }
  Count count;
  if (found[1] == "0") return count;
  const bool told = std::regex_search(output, found, message);
  const std::string text = told ? found[1].str() : first_lines(output);
  if (!told || !std::regex_match(text, failed)) {
    return failure(CountStatus::unexpected, "Rumur found an error in the export: " + text);
  }
  count.failed = true;
  return count;
}

Count read_spin_verdict(const std::string& output) {
  Count count;
  const std::size_t errors = output.rfind("errors: ");
  if (errors == std::string::npos) {
    return failure(CountStatus::unexpected, "SPIN's verifier printed no verdict: " + first_lines(output));
  }
  if (output.compare(errors, 9, "errors: 0") != 0) {
    if (output.find("assertion violated") == std::string::npos) {
      return failure(CountStatus::unexpected, "SPIN found an error in the export: " + first_lines(output));
    }
    count.failed = true;
    return count;
  }
  if (output.find("Full statespace search") == std::string::npos) {
    return failure(CountStatus::unexpected, "SPIN's search was not full: " + first_lines(output));
  }
  return read_spin(output, {0, 0}, 0);
}

Count read_spin(const std::string& output, const PromelaStart& start, std::size_t claims) {
  Count count;
  count.claims.assign(claims, 0);
  const auto says = [&](std::string_view text) { return output.find(text) != std::string::npos; };
  if (says("max search depth too small")) {
    return failure(CountStatus::out_of_memory, "SPIN's search went deeper than its stack");
  }
  if (says("reached -DMEMLIM bound") || says("out of memory")) {
    return failure(CountStatus::out_of_memory, "SPIN reached its limit of memory");
  }
  const auto stored = number_before(output, " states, stored");
  const auto transitions = number_before(output, " transitions (= stored+matched)");
  const auto errors = [&]() -> std::optional<std::uint64_t> {
    const std::size_t at = output.rfind("errors: ");
    if (at == std::string::npos) return std::nullopt;
    return std::strtoull(output.c_str() + at + 8, nullptr, 10);
  }();
  if (!stored || !transitions || !errors || !says("Full statespace search")) {
    return failure(CountStatus::unexpected, "SPIN's verifier printed no counts: " + first_lines(output));
  }
  if (*errors != 0) {
    return failure(CountStatus::unexpected, "SPIN found an error in the export: " + first_lines(output));
  }
  std::uint64_t marked = 0;
  for (std::size_t from = 0; from < output.size();) {
    const std::size_t end = std::min(output.find('\n', from), output.size());
    const std::string_view line = std::string_view(output).substr(from, end - from);
    from = end + 1;
    if (!line.starts_with("claim ")) continue;
    const std::size_t claim = std::strtoull(std::string(line.substr(6)).c_str(), nullptr, 10);
    if (claim >= claims) return failure(CountStatus::unexpected, "SPIN printed an unknown claim");
    ++count.claims[claim];
    ++marked;
  }
  const std::uint64_t own = start.starts + start.states + marked;
  if (*stored < start.states || *transitions < own) {
    return failure(CountStatus::unexpected,
                   fmt::format("SPIN counts {} states and {} transitions, fewer than "
                               "it takes to start",
                               *stored, *transitions));
  }
  count.states = *stored - start.states;
  count.firings = *transitions - own;
  count.note = fmt::format(
      "SPIN stored {} states and made {} transitions: {} state before the start, the storing of it, {} "
      "step{} "
      "to the initial states{} are not the system's",
      *stored, *transitions, start.states, start.starts, start.starts == 1 ? "" : "s",
      marked == 0 ? "" : fmt::format(" and {} marks of claims", marked));
  return count;
}

Count count_text(Checker checker, const std::string& text, const PromelaStart& start, std::size_t claims,
                 const CountOptions& options) {
  const TemporaryFolder folder;
  switch (checker) {
    case Checker::rumur:
      return with_rumur(text, claims, folder.path(), options);
    case Checker::spin:
      return with_spin(text, start, claims, folder.path(), options);
    case Checker::cplusplus:
    case Checker::cuda:
      break;
  }
  return with_search(checker, text, claims, folder.path(), options);
}

Count spin_progress(const recorded::WholeDescription& whole, const std::string& title, int thread,
                    const CountOptions& options) {
  const TemporaryFolder folder;
  return spin_cycles(export_promela(whole, {}, {title, Purpose::progress, thread}), folder.path(), options);
}

Count count_with(Checker checker, const recorded::WholeDescription& whole, const std::vector<Claim>& claims,
                 const std::string& title, const CountOptions& options) {
  const std::string text = export_for(checker, whole, claims, {title, options.purpose, -1});
  return count_text(checker, text, promela_start(whole), claims.size(), options);
}

}  // namespace lockstep
