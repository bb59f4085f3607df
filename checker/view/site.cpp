#include "checker/view/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>

#include "checker/axiomatic/model.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "checker/support/registration.hpp"
#include "checker/view/execution.hpp"
#include "checker/view/machine.hpp"
#include "checker/view/page.hpp"
#include "checker/view/run.hpp"

namespace lockstep::view {

using nlohmann::json;

namespace {

constexpr std::size_t most_sessions = 16;
constexpr std::size_t most_jobs = 64;
constexpr std::size_t longest_path = 100'000;

// Nobody here: of an address that names nothing.
struct NotFound : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// In a time that does not tell how much of it was right.
bool same_token(std::string_view given, std::string_view wanted) {
  unsigned char difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    difference |= static_cast<unsigned char>((i < given.size() ? given[i] : 0) ^ wanted[i]);
  return difference == 0;
}

using Parameters = std::multimap<std::string, std::string>;

std::string single(const Parameters& parameters, const std::string& name, const std::string& otherwise = {}) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}
std::vector<std::string> every(const Parameters& parameters, const std::string& name) {
  std::vector<std::string> values;
  const auto [first, last] = parameters.equal_range(name);
  for (auto at = first; at != last; ++at) values.push_back(at->second);
  return values;
}
std::string needed(const Parameters& parameters, const std::string& name) {
  const std::string value = single(parameters, name);
  if (value.empty()) throw BadInput(fmt::format("the request lacks '{}'", name));
  return value;
}
std::size_t number(const std::string& text, const std::string& name) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    throw BadInput(fmt::format("'{}' is no number: '{}'", name, text));
  return value;
}

// "3.0.12"
Decisions parse_path(const std::string& text) {
  Decisions path;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    path.push_back(number(text.substr(at, end - at), "path"));
    if (path.size() > longest_path) throw BadInput("the path is too long");
    at = end + 1;
  }
  return path;
}

Subject subject_of(const Parameters& parameters) {
  Subject subject = subject_named(needed(parameters, "system"));
  SharedOptions shared;
  shared.faults = every(parameters, "fault");
  for (const std::string& size : every(parameters, "size")) shared.sizes.insert(parse_size(size));
  apply_shared(shared, std::span(&subject, 1));
  const std::string scheduler = single(parameters, "scheduler");
  if (!scheduler.empty()) {
    subject.options.scheduler = scheduler_named(scheduler);
    for (const std::string& setting : every(parameters, "set"))
      apply_setting(*subject.options.scheduler, setting);
  }
  return subject;
}

json names_with_what(const auto& range) {
  json all = json::array();
  for (const auto& item : range) all.push_back({{"name", item.name}, {"what", item.what}});
  return all;
}

json error_json(const BadInput& error) {
  const Diagnostic& diagnostic = error.diagnostic();
  return {{"error", error.what()}, {"message", diagnostic.message}, {"hint", diagnostic.hint}};
}

json status_json(RunStatus status, std::size_t states) {
  return {{"status", word(status)}, {"states", states}};
}

}  // namespace

Site::Site(SiteOptions options) : options_(std::move(options)) {}

Answer Site::answer(const Request& request) {
  const auto fails = [](int status, const json& what) {
    return Answer{status, "application/json", json_text(what)};
  };
  try {
    return dispatch(request);
  } catch (const NotFound& error) {
    return fails(404, {{"error", error.what()}});
  } catch (const BadInput& error) {
    return fails(400, error_json(error));
  } catch (const std::bad_alloc&) {
    return fails(503, {{"error", "no memory is left for this"}});
  } catch (const std::exception& error) {
    return fails(500, {{"error", fmt::format("a mistake in Lockstep itself: {}", error.what())}});
  }
}

Answer Site::dispatch(const Request& request) {
  // Another page's scripts could reach this address by a name of their own.
  if (std::find(options_.hosts.begin(), options_.hosts.end(), request.host) == options_.hosts.end())
    return {403, "text/plain",
            "lockstep view answers at the address that the command printed, by no other name\n"};
  const std::string_view path = request.path;
  const std::size_t slash = std::min(path.find('/', 1), path.size());
  if (!path.starts_with("/") || !same_token(path.substr(1, slash - 1), options_.token))
    return {403, "text/plain",
            "lockstep view: this address lacks its token; use the one that the command printed\n"};
  const std::string_view rest = path.substr(slash);
  if (rest == "/" && !request.posts)
    return {200, "text/html; charset=utf-8", page_with(options_.page, catalogue())};
  constexpr std::string_view api = "/api/";
  if (!rest.starts_with(api)) throw NotFound("there is nothing here");
  return {200, "application/json",
          json_text(ask(std::string(rest.substr(api.size())), request.parameters, request.posts))};
}

json Site::ask(const std::string& what, const Parameters& parameters, bool posts) {
  if (what == "stop" && posts) {
    const auto job = job_named(needed(parameters, "job"));
    job->stop = true;
    return json::object();
  }
  if (what == "matrix") return matrix(parameters);
  if (posts) throw NotFound("there is nothing to post here");
  if (what == "machine") return machine(parameters);
  if (what == "run") return run(parameters);
  if (what == "outcomes") return outcomes(parameters);
  if (what == "executions") return executions(parameters);
  if (what == "explore") return explore(parameters);
  throw NotFound("there is nothing here");
}

json Site::catalogue() const {
  json systems_known = json::array();
  for (const SystemEntry& system : systems()) {
    json sizes = json::array();
    for (const SizeDescription& size : system.sizes)
      sizes.push_back({{"name", size.name}, {"capacity", size.capacity}, {"set_by", size.what_sets_it}});
    systems_known.push_back({{"name", system.name},
                             {"what", system.what},
                             {"variants", names_with_what(system.variants)},
                             {"faults", names_with_what(system.faults)},
                             {"sizes", std::move(sizes)},
                             {"takes", system.runs_programs               ? "programs"
                                       : system.build_launched != nullptr ? "launches"
                                                                          : "nothing"}});
  }
  json tests = json::array();
  for (const auto& test : options_.tests) {
    tests.push_back({{"name", test->name},
                     {"doc", test->doc},
                     {"dialect", test->dialect},
                     {"tags", test->tags},
                     {"launches", test->launches != nullptr},
                     {"condition", fmt::format("{} {}", word(test->quantifier), test->condition_text)}});
  }
  json traces = json::array();
  for (const auto& [title, trace] : options_.traces)
    traces.push_back({{"title", title}, {"end", trace_end_text(trace)}});
  return {{"schema", schema},
          {"version", headers_version},
          {"live", true},
          {"systems", std::move(systems_known)},
          {"tests", std::move(tests)},
          {"models", options_.models},
          {"matrix", options_.systems},
          {"traces", std::move(traces)},
          {"first", options_.first}};
}

std::shared_ptr<const LitmusTest> Site::test_named(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& test : options_.tests) {
    if (test->name == name) return test;
    names.push_back(test->name);
  }
  throw BadInput(fmt::format("no test '{}'", name), suggestion(name, names));
}

std::shared_ptr<const AxiomaticModel> Site::model_of(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = models_.find(name); known != models_.end()) return known->second;
  if (std::find(options_.models.begin(), options_.models.end(), name) == options_.models.end())
    throw BadInput(fmt::format("no model '{}'", name), suggestion(name, options_.models));
  auto model = std::make_shared<const AxiomaticModel>(name);
  models_.emplace(name, model);
  return model;
}

std::shared_ptr<Site::Job> Site::job_named(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  // Of one that has no name nobody will ask again.
  make_room();
  if (name.empty())
    return jobs_.emplace(fmt::format("unnamed {}", ++uses_), std::make_shared<Job>()).first->second;
  const auto found = jobs_.find(name);
  if (found != jobs_.end()) return found->second;
  if (jobs_.size() >= most_jobs)
    throw BadInput("too many matrices are being filled at once", "stop one of them, or wait");
  return jobs_.emplace(name, std::make_shared<Job>()).first->second;
}

// Of what nobody works at any more.
void Site::make_room() {
  if (jobs_.size() < most_jobs) return;
  std::erase_if(jobs_, [](const auto& job) {
    return job.second.use_count() == 1 &&
           (job.second->matrix == nullptr || job.second->matrix->is_finished());
  });
}

void Site::stop() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, job] : jobs_) job->stop = true;
}

RunLimits Site::limits_of(const std::shared_ptr<Job>& job) const {
  RunLimits limits = options_.limits;
  limits.interrupted = &job->stop;
  return limits;
}

json Site::machine(const Parameters& parameters) const {
  return machine_document(subject_of(parameters));
}

json Site::run(const Parameters& parameters) const {
  const std::size_t which = number(needed(parameters, "trace"), "trace");
  if (which >= options_.traces.size())
    throw BadInput(fmt::format("there is no run number {}", which), "the command was begun with others");
  const auto& [title, trace] = options_.traces[which];
  return run_document(trace, title);
}

json Site::outcomes(const Parameters& parameters) {
  const auto test = test_named(needed(parameters, "test"));
  const auto job = job_named(single(parameters, "job"));
  const RunLimits limits = limits_of(job);
  const Subject subject = subject_of(parameters);
  const std::string wanted = single(parameters, "outcome");
  if (!wanted.empty()) {
    const auto trace = find_outcome(*test, subject, limits, [&](const Outcome& outcome) {
      return outcome_text(*test, outcome) == wanted;
    });
    if (!trace)
      throw BadInput(fmt::format("no run with {} was found", wanted), "a limit of time may have come first");
    return run_document(*trace, fmt::format("{} on {}: {}", test->name, subject.name(), wanted));
  }
  const SystemRun run = run_on_system(*test, subject, limits);
  if (run.status == RunStatus::error) throw BadInput(run.message);
  json all = json::array();
  for (const Outcome& outcome : run.outcomes) {
    all.push_back({{"text", outcome_text(*test, outcome)},
                   {"filtered", !satisfies(test->filter, *test, outcome)},
                   {"satisfies", satisfies(test->condition, *test, outcome)}});
  }
  json out = status_json(run.status, run.exploration.states);
  out["outcomes"] = std::move(all);
  out["observation"] = word(run.tally.observation());
  if (run.failure)
    out["failure"] = run_document(*run.failure,
                                  fmt::format("{} on {}: {}", test->name, subject.name(), failure_text(run)));
  return out;
}

json Site::executions(const Parameters& parameters) {
  const auto test = test_named(needed(parameters, "test"));
  const auto model = model_of(needed(parameters, "model"));
  const auto job = job_named(single(parameters, "job"));
  JudgeOptions judging;
  judging.time = options_.limits.time;
  judging.interrupted = &job->stop;
  return executions_document(*test, *model, judging);
}

std::shared_ptr<Site::Session> Site::session(const Parameters& parameters) {
  static const std::vector<std::string> identifying{"system", "fault", "size", "scheduler", "set",
                                                    "test",   "trace", "row",  "moves",     "initial"};
  std::string key;
  for (const std::string& name : identifying) {
    for (const std::string& value : every(parameters, name)) key += fmt::format("{}={}\n", name, value);
  }
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<Session>& found = sessions_[key];
  if (found == nullptr) found = std::make_shared<Session>();
  found->used = ++uses_;
  const std::shared_ptr<Session> result = found;
  while (sessions_.size() > most_sessions) {
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(), [](const auto& a, const auto& b) {
      return a.second->used < b.second->used;
    }));
  }
  return result;
}

json Site::explore(const Parameters& parameters) {
  const std::shared_ptr<Session> shared = session(parameters);
  const std::scoped_lock lock(shared->mutex);
  if (shared->exploration == nullptr) {
    const bool at_once = single(parameters, "moves", "at-once") != "each";
    if (const std::string which = single(parameters, "trace"); !which.empty()) {
      const std::size_t trace = number(which, "trace");
      if (trace >= options_.traces.size()) throw BadInput(fmt::format("there is no run number {}", trace));
      shared->exploration = std::make_unique<Exploration>(
          options_.traces[trace].second, number(single(parameters, "row", "1"), "row"), at_once);
    } else {
      Subject subject = subject_of(parameters);
      std::shared_ptr<const LitmusTest> test;
      if (subject.system->runs_programs || subject.system->build_launched != nullptr) {
        const std::string name = single(parameters, "test");
        if (!name.empty() || subject.system->runs_programs) {
          test = test_named(name);
          subject = with_client(std::move(subject), *test);
        }
      }
      shared->exploration = std::make_unique<Exploration>(
          subject, test, at_once, number(single(parameters, "initial", "0"), "initial"));
    }
  }
  Exploration& exploration = *shared->exploration;
  try {
    exploration.go(parse_path(single(parameters, "path")));
    json found;
    if (const std::string condition = single(parameters, "find"); !condition.empty()) {
      const Found result = exploration.find(condition, limits_of(job_named(single(parameters, "job"))));
      found = status_json(result.status, result.states);
      if (result.path) {
        found["path"] = *result.path;
        exploration.go(*result.path);
      }
    }
    if (single(parameters, "as") == "trace") return trace_json(exploration.trace());
    json document = exploration.document();
    if (!found.is_null()) document["found"] = std::move(found);
    return document;
  } catch (...) {
    // It is made anew from the link.
    shared->exploration.reset();
    throw;
  }
}

json Site::matrix(const Parameters& parameters) {
  const std::shared_ptr<Job> job = job_named(needed(parameters, "job"));
  const std::scoped_lock lock(mutex_);
  if (job->matrix == nullptr) {
    MatrixOptions options;
    for (const std::string& name : every(parameters, "system")) {
      Subject subject = subject_named(name);
      if (!subject.system->runs_programs) throw BadInput(fmt::format("{} runs no programs", name));
      options.systems.push_back(std::move(subject));
    }
    for (const std::string& name : every(parameters, "model")) {
      if (std::find(options_.models.begin(), options_.models.end(), name) == options_.models.end())
        throw BadInput(fmt::format("no model '{}'", name), suggestion(name, options_.models));
      options.models.push_back(std::make_shared<const AxiomaticModel>(name));
    }
    const std::vector<std::string> named = every(parameters, "test");
    const std::string tag = single(parameters, "tag");
    for (const auto& test : options_.tests) {
      if (test->launches != nullptr) continue;
      const bool wanted = named.empty() ? tag.empty() || has_tag(*test, tag)
                                        : std::find(named.begin(), named.end(), test->name) != named.end();
      if (wanted) options.tests.push_back(test);
    }
    if (options.tests.empty()) throw BadInput("no test is asked for");
    if (options.systems.empty() && options.models.empty())
      throw BadInput("no system and no model is asked for");
    options.limits = limits_of(job);
    job->matrix = std::make_unique<Matrix>(std::move(options));
    job->thread = std::thread([&filled = *job->matrix] { filled.run(); });
  }
  return job->matrix->document();
}

std::string exported_page(const std::string& page, const json& documents) {
  return page_with(
      page, {{"schema", schema}, {"version", headers_version}, {"live", false}, {"documents", documents}});
}

}  // namespace lockstep::view
