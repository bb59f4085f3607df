#include "proofs/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace lockstep {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t head = 12;  // where the values of a report's head stand

std::string cut(const std::string& text, std::size_t columns) {
  if (text.size() <= columns) return text;
  return text.substr(0, columns - 3) + "...";
}

struct Tally {
  std::size_t obligations = 0;
  std::size_t proved = 0;
  double seconds = 0;
};

// A Maybe that holds nothing has an index that means nothing.
bool meaningless(const ProofField& field, const std::set<std::string>& empty) {
  const std::size_t at = field.path.find(".index");
  return at != std::string::npos &&
         empty.contains(field.path.substr(0, at) + ".has" + field.path.substr(at + 6));
}

// What lies in slots beyond a queue's end. `counts` are the queues' lengths, by their names and indices.
bool beyond_end(const ProofField& field, const std::map<std::string, std::pair<int, int>>& counts) {
  const std::size_t open = field.path.find('[');
  const std::size_t close = field.path.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return false;
  const std::size_t row = field.path.find('(');
  const std::string indices = row == std::string::npos ? std::string() : field.path.substr(row);
  const auto queue = counts.find(field.path.substr(0, open) + ".count" + indices);
  if (queue == counts.end()) return false;
  const int slot = std::stoi(field.path.substr(open + 1, close - open - 1));
  return slot >= std::max(queue->second.first, queue->second.second);
}

std::string counterexample_text(const CounterexampleToInduction& c) {
  std::set<std::string> empty;
  for (const ProofField& field : c.fields) {
    if (field.path.find(".has") != std::string::npos && field.before == "false" && field.after == "false")
      empty.insert(field.path);
  }
  std::map<std::string, std::pair<int, int>> counts;
  for (const ProofField& field : c.fields) {
    if (field.path.find(".count") != std::string::npos && !field.before.empty() && !field.after.empty() &&
        field.before != "?" && field.after != "?")
      counts[field.path] = {std::stoi(field.before), std::stoi(field.after)};
  }
  std::string held;
  std::string changed;
  for (const ProofField& field : c.fields) {
    if (meaningless(field, empty) || beyond_end(field, counts)) continue;
    if (field.before != field.after) {
      changed += fmt::format("      {}: {} -> {}\n", field.path, field.before, field.after);
    } else if (!field.plain) {
      held += fmt::format("      {} = {}\n", field.path, field.before);
    }
  }
  std::string text = "    In a state in which all lemmas hold, and what is not listed is at its default,\n";
  text += held.empty() ? "      (nothing)\n" : held;
  text += fmt::format("    {} fires and changes\n", c.rule);
  text += changed.empty() ? "      (nothing)\n" : changed;
  return text;
}

bool failed(const Obligation& o) {
  return o.status != ProofStatus::proved && o.status != ProofStatus::skipped;
}

// What was checked by something small, and what was not.
std::string certificates_text(const ProofResult& result) {
  std::size_t certified = 0, by_reading = 0, without = 0, bytes = 0;
  std::map<std::string, std::size_t> reasons;
  for (const Obligation& o : result.obligations) {
    if (o.status != ProofStatus::proved) {
      ++without;
      ++reasons["not proved"];
    } else if (o.by_reading) {
      ++by_reading;
    } else if (!o.certificate.empty()) {
      ++certified;
    } else {
      ++without;
      ++reasons[o.why_no_certificate];
    }
  }
  for (const Certificate& one : result.certificates) bytes += one.bytes;
  const std::string_view verdict = result.proved() && without == 0 ? "Certified. "
                                   : certified == 0                ? "Not certified. "
                                                                   : "Certified in part. ";
  std::string text = fmt::format(
      "{}{} by {} certificates of {:.1f} MB, found by {} and checked; {} left nothing to prove once read; "
      "{} without\n",
      verdict, certified, result.certificates.size(), static_cast<double>(bytes) / 1e6, result.certifier,
      by_reading, without);
  text = wrapped(text, 0);
  for (const auto& [reason, count] : reasons) text += wrapped(fmt::format("  {}: {}\n", count, reason), 4);
  return text;
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t indent, std::size_t column) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const bool breaks = at > 0 && column + 1 + (end - at) > width;
    if (at > 0) lines += breaks ? "\n" + std::string(indent, ' ') : " ";
    column = (breaks ? indent : column + (at > 0 ? 1 : 0)) + (end - at);
    lines += text.substr(at, end - at);
    at = end + 1;
  }
  return lines;
}

std::string sizes_text(const std::vector<std::pair<std::string, int>>& sizes) {
  std::string text;
  for (const auto& [name, size] : sizes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, size);
  }
  return text;
}

std::string proof_text(const ProofTitle& title, const ProofResult& result, bool all) {
  const std::string fixed = title.fixed.empty() ? "nothing" : sizes_text(title.fixed);
  std::string text = fmt::format("Prove {}\n  For       {}\n", title.system, title.scope);
  if (fixed != title.scope) text += fmt::format("  Fixed     {}\n", fixed);
  if (!title.client.empty()) text += fmt::format("  Client    {}\n", wrapped(title.client, head, head));
  text +=
      fmt::format("  Theorem   {}\n  Solvers   {}\n\n", wrapped(title.theorem, head, head), title.solvers);
  std::vector<std::string> order;
  std::map<std::string, Tally> tallies;
  for (const Obligation& o : result.obligations) {
    const auto [at, fresh] = tallies.emplace(o.lemma, Tally{});
    if (fresh) order.push_back(o.lemma);
    ++at->second.obligations;
    at->second.proved += o.status == ProofStatus::proved ? 1 : 0;
    at->second.seconds += o.seconds + o.recheck_seconds;
  }
  constexpr std::size_t figures = 26;
  text += fmt::format("{:<{}}{:>12}{:>14}\n", "Lemma, kept by every rule", width - figures, "proved", "time");
  for (const std::string& lemma : order) {
    const Tally& t = tallies[lemma];
    text += fmt::format("{:<{}}{:>12}{:>12.2f} s\n", cut(lemma, width - figures - 1), width - figures,
                        fmt::format("{} of {}", t.proved, t.obligations), t.seconds);
  }
  if (all) {
    text += "\n";
    for (const Obligation& o : result.obligations) {
      text += fmt::format("{:<9} {:.3f} s  {}: {}{}\n", word(o.status), o.seconds + o.recheck_seconds, o.rule,
                          o.lemma, o.file.empty() ? "" : fmt::format("  [{}]", o.file));
    }
  }
  // The same lemma often fails of several rules for one reason: the first of each is shown whole.
  std::map<std::string, int> shown;
  for (const Obligation& o : result.obligations) {
    if (!failed(o)) continue;
    text += fmt::format("\n{}: \"{}\"\n    by the rule \"{}\"{}\n", word(o.status), o.lemma, o.rule,
                        o.message.empty() ? "" : fmt::format(": {}", o.message));
    if (o.counterexample && shown[o.lemma]++ == 0) text += counterexample_text(*o.counterexample);
  }
  std::string counts;
  for (int s = 0; s <= static_cast<int>(ProofStatus::skipped); ++s) {
    const auto status = static_cast<ProofStatus>(s);
    if (const std::size_t n = result.count(status); n > 0)
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", n, word(status));
  }
  text += fmt::format("\n{}{} obligations: {}, {:.1f} s\n", result.proved() ? "Proved. " : "Not proved. ",
                      result.obligations.size(), counts, result.seconds);
  if (!result.certifier.empty()) text += certificates_text(result);
  return text;
}

nlohmann::json proof_json(const ProofTitle& title, const ProofResult& result) {
  nlohmann::json fixed = nlohmann::json::object();
  for (const auto& [name, size] : title.fixed) fixed[name] = size;
  nlohmann::json obligations = nlohmann::json::array();
  for (const Obligation& o : result.obligations) {
    nlohmann::json one{
        {"rule", o.rule}, {"lemma", o.lemma}, {"verdict", word(o.status)}, {"seconds", o.seconds}};
    if (o.recheck_seconds > 0) one["recheck_seconds"] = o.recheck_seconds;
    if (!o.message.empty()) one["message"] = o.message;
    if (!o.file.empty()) one["file"] = o.file;
    if (o.by_reading) one["by_reading"] = true;
    if (!o.certificate.empty()) one["certificate"] = o.certificate;
    if (!o.why_no_certificate.empty()) one["why_no_certificate"] = o.why_no_certificate;
    if (o.counterexample) {
      nlohmann::json fields = nlohmann::json::array();
      for (const ProofField& f : o.counterexample->fields)
        fields.push_back({{"path", f.path}, {"before", f.before}, {"after", f.after}});
      one["counterexample"] = {{"rule", o.counterexample->rule}, {"fields", std::move(fields)}};
    }
    obligations.push_back(std::move(one));
  }
  nlohmann::json certificates = nlohmann::json::array();
  for (const Certificate& one : result.certificates)
    certificates.push_back(
        {{"name", one.name}, {"clauses", one.clauses}, {"steps", one.steps}, {"bytes", one.bytes}});
  return {{"schema", "lockstep.prove/1"},
          {"system", title.system},
          {"theorem", title.theorem},
          {"for", title.scope},
          {"fixed", std::move(fixed)},
          {"client", title.client},
          {"solvers", title.solvers},
          {"verdict", result.interrupted ? "interrupted"
                      : result.proved()  ? "proved"
                                         : "not proved"},
          {"seconds", result.seconds},
          {"certifier", result.certifier.empty() ? nlohmann::json() : nlohmann::json(result.certifier)},
          {"certificates", std::move(certificates)},
          {"obligations", std::move(obligations)}};
}

}  // namespace lockstep
