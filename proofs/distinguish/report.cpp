// What `lockstep distinguish` prints.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "checker/generate/blueprint.hpp"
#include "proofs/distinguish/distinguish.hpp"

namespace lockstep::distinguish {

namespace {

constexpr const char* what_is_looked_at =
    "Looked at: plain and atomic loads and stores, exchanges and fences of every\n"
    "order, at work-group, agent and system scope, by at most {} threads in any\n"
    "work-groups and agents, on at most half as many locations as events; a value or\n"
    "address that depends on one read, and branches to a thread's end. Not looked at:\n"
    "hosts, waves, barriers, kernels, local memory, locations that are not atomic,\n"
    "other RMWs, and what other dialects say.\n";

std::string finding_text(const DistinguishReport& report, const Finding& finding) {
  const bool flags = finding.by == By::flags;
  if (finding.difference) {
    const Difference& d = *finding.difference;
    std::string text = generate::print_test(*d.test) + "\n";
    text += fmt::format("{} {}, and {} {} it.\n{} events{}.\n", report.models[d.allows],
                        flags ? "leaves it defined" : "allows it", report.models[1 - d.allows],
                        flags ? "flags" : "forbids", d.events,
                        finding.decided == d.events - 1 ? "; fewer never do" : "");
    return text;
  }
  const std::string_view what = flags ? "flags of one alone" : "an outcome of one alone";
  if (finding.decided == report.up_to)
    return fmt::format("No execution of up to {} events has {}\n", report.up_to, what);
  return fmt::format("No execution of up to {} events has {};\nof up to {} not all was decided{}\n",
                     finding.decided, what, report.up_to,
                     report.interrupted   ? ": interrupted"
                     : report.out_of_time ? ": out of time"
                                          : "");
}

}  // namespace

std::string distinguish_text(const DistinguishReport& report) {
  std::string text = fmt::format("Distinguish {}\n       from {}\n", report.models[0], report.models[1]);
  for (const Finding& finding : report.findings) text += "\n" + finding_text(report, finding);
  text += "\n" + fmt::format(fmt::runtime(what_is_looked_at), most_threads);
  return text + fmt::format("\n{} and {}: {}, {:.1f} s\n", report.models[0], report.models[1],
                            report.differ() ? "an execution tells them apart"
                                            : "no execution was found that tells them apart",
                            report.seconds);
}

nlohmann::json distinguish_json(const DistinguishReport& report) {
  nlohmann::json out{{"schema", "lockstep.distinguish/1"},
                     {"models", report.models},
                     {"up_to", report.up_to},
                     {"findings", nlohmann::json::array()},
                     {"interrupted", report.interrupted},
                     {"out_of_time", report.out_of_time},
                     {"seconds", report.seconds}};
  for (const Finding& finding : report.findings) {
    nlohmann::json one{{"by", finding.by == By::flags ? "flags" : "outcomes"},
                       {"decided_up_to", finding.decided},
                       {"open", finding.open},
                       {"difference", nullptr}};
    if (finding.difference) {
      const Difference& d = *finding.difference;
      one["difference"] = {{"test", d.test->name},
                           {"text", generate::print_test(*d.test)},
                           {"events", d.events},
                           {"allows", report.models[d.allows]}};
    }
    out["findings"].push_back(std::move(one));
  }
  return out;
}

}  // namespace lockstep::distinguish
