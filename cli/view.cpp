// `lockstep view`: runs, executions, machines and matrices in the browser, or in a file for one.
#include <fmt/format.h>
#include <httplib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "checker/axiomatic/cat_compiler.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "checker/support/process.hpp"
#include "checker/view/execution.hpp"
#include "checker/view/machine.hpp"
#include "checker/view/page.hpp"
#include "checker/view/run.hpp"
#include "checker/view/site.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

using nlohmann::json;

constexpr std::size_t largest_request = 1 << 20;  // bytes
constexpr std::size_t most_outcomes = 16;         // of one test on one system, as runs in a file

struct Options {
  std::vector<std::string> what;
  std::vector<std::string> systems;
  std::vector<std::string> models;
  std::string export_file;
  int port = 0;
  bool matrix = false;
  bool no_open = false;
  bool json = false;
  SystemChoice choice;
  LimitOptions limits;
};

// What was named, told apart.
struct Named {
  std::vector<std::pair<std::string, RecordedTrace>> traces;
  std::vector<std::string> machines;
  LitmusTests tests;
  std::string place;  // of a link
};

bool names_system(const std::string& word) {
  const std::string name = word.substr(0, word.find('/'));
  return !std::filesystem::exists(word) &&
         std::any_of(systems().begin(), systems().end(), [&](const auto& one) { return one.name == name; });
}

Named told_apart(const Options& options) {
  Named named;
  std::vector<std::string> tests;
  for (const std::string& word : options.what) {
    if (const std::size_t hash = word.find("#/"); hash != std::string::npos) {
      named.place = word.substr(hash);
    } else if (word.ends_with(".json")) {
      named.traces.emplace_back(std::filesystem::path(word).filename().string(), read_trace(word));
    } else if (names_system(word)) {
      named.machines.push_back(word);
    } else {
      tests.push_back(word);
    }
  }
  if (!tests.empty()) {
    const SuiteFiles files = read_tests(tests, litmus_home(), Clients::include);
    if (!files.errors.empty()) {
      for (const std::string& error : files.errors) print_error(error);
      throw BadInput("nothing is shown of what cannot be read");
    }
    named.tests = files.tests;
    named.tests.insert(named.tests.end(), files.launches.begin(), files.launches.end());
  }
  return named;
}

Subject subject_of(const std::string& name, const Options& options) {
  Subject subject = subject_named(name);
  apply_shared(options.choice.shared(), std::span(&subject, 1));
  return subject;
}

std::vector<Subject> subjects_of(const Options& options) {
  std::vector<Subject> subjects;
  for (const std::string& name : options.systems) subjects.push_back(subject_named(name));
  if (!subjects.empty()) apply_shared(options.choice.shared(), subjects);
  return subjects;
}

// ---- in a file
// -------------------------------------------------------------------------------------------

// A shortest run to each outcome.
void add_outcomes(const LitmusTest& test, const Subject& subject, const RunLimits& limits, json& documents) {
  const SystemRun run = run_on_system(test, subject, limits);
  if (run.status == RunStatus::error) throw BadInput(run.message);
  const std::string title = fmt::format("{} on {}", test.name, subject.name());
  if (run.failure) documents.push_back(view::run_document(*run.failure, title + ": " + failure_text(run)));
  for (std::size_t i = 0; i < run.outcomes.size() && i < most_outcomes; ++i) {
    const auto trace = find_outcome(test, subject, limits,
                                    [&](const Outcome& outcome) { return outcome == run.outcomes[i]; });
    if (trace)
      documents.push_back(
          view::run_document(*trace, fmt::format("{}: {}", title, outcome_text(test, run.outcomes[i]))));
  }
  if (run.outcomes.empty() && !run.failure)
    throw BadInput(fmt::format("{} has no run that ends: {}", title, word(run.status)));
}

bool takes(const SystemEntry& system, const LitmusTest& test) {
  return test.launches != nullptr ? system.build_launched != nullptr : system.runs_programs;
}

view::MatrixOptions matrix_of(const Options& options, const LitmusTests& tests, const RunLimits& limits) {
  view::MatrixOptions matrix;
  matrix.tests = tests;
  std::erase_if(matrix.tests, [](const auto& test) { return test->launches != nullptr; });
  matrix.systems = subjects_of(options);
  for (const Subject& subject : matrix.systems) {
    if (!subject.system->runs_programs) throw BadInput(fmt::format("{} runs no programs", subject.name()));
  }
  for (const std::string& name : options.models)
    matrix.models.push_back(std::make_shared<const AxiomaticModel>(name));
  matrix.limits = limits;
  return matrix;
}

json documents_of(const Options& options, const Named& named, const LitmusTests& quick) {
  const RunLimits limits = options.limits.limits();
  json documents = json::array();
  for (const auto& [title, trace] : named.traces) documents.push_back(view::run_document(trace, title));
  for (const std::string& name : named.machines)
    documents.push_back(view::machine_document(subject_of(name, options)));
  if (options.matrix) {
    view::Matrix matrix(matrix_of(options, named.tests.empty() ? quick : named.tests, limits));
    matrix.run();
    if (limits.are_interrupted()) return documents;
    documents.push_back(matrix.document());
    return documents;
  }
  for (const auto& test : named.tests) {
    for (const Subject& subject : subjects_of(options)) {
      if (!takes(*subject.system, *test))
        throw BadInput(fmt::format("{} does not take {}", subject.name(), test->name));
      add_outcomes(*test, subject, limits, documents);
    }
    for (const std::string& name : options.models) {
      const AxiomaticModel model(name);
      JudgeOptions judging;
      judging.time = limits.time;
      judging.interrupted = limits.interrupted;
      documents.push_back(view::executions_document(*test, model, judging));
    }
  }
  if (documents.empty())
    throw BadInput("there is nothing to write",
                   "name a trace, a system, or a test with --on SYSTEM or --model MODEL");
  return documents;
}

// ---- served
// ----------------------------------------------------------------------------------------------

std::string random_token() {
  std::random_device source;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", source());
  return token;
}

std::string encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '-' || c == '_' || c == '.';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string choice_text(const Options& options) {
  std::string text;
  for (const std::string& fault : options.choice.faults) text += "&fault=" + encoded(fault);
  for (const std::string& size : options.choice.sizes) text += "&size=" + encoded(size);
  return text;
}

std::string with_variant(const std::string& system, const Options& options) {
  return options.choice.variant.empty() || system.find('/') != std::string::npos
             ? system
             : system + "/" + options.choice.variant;
}

// Where the page opens, and what else was asked for.
json places_of(const Options& options, const Named& named) {
  json places = json::array();
  if (!named.place.empty()) places.push_back(named.place);
  if (named.traces.size() == 2) places.push_back("#/runs?left=0&right=1");
  for (std::size_t i = 0; i < named.traces.size(); ++i) places.push_back(fmt::format("#/run?trace={}", i));
  for (const std::string& name : named.machines)
    places.push_back(
        fmt::format("#/machine?system={}{}", encoded(with_variant(name, options)), choice_text(options)));
  if (options.matrix) {
    std::string place = "#/matrix?";
    for (const std::string& name : options.systems)
      place += "system=" + encoded(with_variant(name, options)) + "&";
    for (const std::string& name : options.models) place += "model=" + encoded(name) + "&";
    for (const auto& test : named.tests) place += "test=" + encoded(test->name) + "&";
    if (named.tests.empty()) place += "tag=quick&";
    place.pop_back();
    places.push_back(place);
    return places;
  }
  for (const auto& test : named.tests) {
    for (const std::string& name : options.systems)
      places.push_back(fmt::format("#/explore?system={}&test={}{}", encoded(with_variant(name, options)),
                                   encoded(test->name), choice_text(options)));
    for (const std::string& name : options.models)
      places.push_back(fmt::format("#/execution?test={}&model={}", encoded(test->name), encoded(name)));
    if (options.systems.empty() && options.models.empty())
      places.push_back(fmt::format("#/test?name={}", encoded(test->name)));
  }
  return places;
}

// Opens the address in the browser of whoever sits in front of this machine, if anybody does.
void open_browser(const std::string& address) {
  if (isatty(STDOUT_FILENO) == 0) return;
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  const TemporaryFolder folder;
  run_process({{"xdg-open", address}, folder.path(), std::chrono::seconds(5), &interrupted()});
}

view::Request request_of(const httplib::Request& request) {
  view::Request asked;
  asked.path = request.path;
  for (const auto& [name, value] : request.params) asked.parameters.emplace(name, value);
  asked.host = request.get_header_value("Host");
  asked.posts = request.method == "POST";
  return asked;
}

int serve(const Options& options, const Named& named, LitmusTests shipped) {
  httplib::Server server;
  server.set_payload_max_length(largest_request);
  server.set_read_timeout(10);
  server.set_keep_alive_timeout(5);
  // A port is one server's: without this a second one could listen at it, too.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  int port = options.port;
  constexpr const char* loopback = "127.0.0.1";
  if (port == 0) {
    port = server.bind_to_any_port(loopback);
    if (port < 0) throw BadInput("no port of this machine is free");
  } else if (!server.bind_to_port(loopback, port)) {
    throw BadInput(fmt::format("port {} cannot be listened at", port),
                   "another program has it; leave out --port for one that is free");
  }

  view::SiteOptions site;
  site.token = random_token();
  site.hosts = {fmt::format("{}:{}", loopback, port), fmt::format("localhost:{}", port)};
  site.page = view::page();
  site.tests = named.tests;
  for (auto& test : shipped) {
    const bool taken = std::any_of(named.tests.begin(), named.tests.end(),
                                   [&](const auto& other) { return other->name == test->name; });
    if (!taken) site.tests.push_back(std::move(test));
  }
  site.models = cat::model_names();
  for (const std::string& name : options.models) {
    if (std::find(site.models.begin(), site.models.end(), name) == site.models.end())
      site.models.push_back(name);
  }
  site.traces = named.traces;
  site.first = places_of(options, named);
  for (const SystemEntry& system : systems()) {
    if (system.runs_programs) site.systems.emplace_back(system.name);
  }
  site.limits = options.limits.limits();
  if (site.limits.time.count() == 0) site.limits.time = std::chrono::seconds(60);
  view::Site answers(site);

  const auto answer = [&](const httplib::Request& request, httplib::Response& response) {
    const view::Answer said = answers.answer(request_of(request));
    response.status = said.status;
    // Nothing is loaded from anywhere else, nor is this shown within another page.
    response.set_header("Content-Security-Policy",
                        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                        "img-src data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cache-Control", "no-store");
    response.set_content(said.body, said.type);
  };
  server.Get(".*", answer);
  server.Post(".*", answer);

  const std::string address = fmt::format("http://{}:{}/{}/", loopback, port, site.token);
  print_now(fmt::format("{}\nOnly this machine can reach it, and only by this address. Ctrl-C ends it.\n",
                        address));
  std::thread opener;
  if (!options.no_open) opener = std::thread([&] { open_browser(address); });
  // Whoever asks last is answered, then nobody.
  std::thread watcher([&] {
    while (!interrupted().load()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    answers.stop();
    server.stop();
  });
  server.listen_after_bind();
  watcher.join();
  if (opener.joinable()) opener.join();
  return 0;
}

int run(const Options& options) {
  for (const std::string& name : options.models) refuse_vacuous(AxiomaticModel(name));
  // Whatever is wrong with what was named is said before anything is shown.
  subjects_of(options);
  const Named named = told_apart(options);
  for (const std::string& name : named.machines) subject_of(name, options);
  const std::string home = litmus_home();
  SuiteFiles files = read_tests(std::vector{home}, home, Clients::include);
  if (options.matrix && options.systems.empty() && options.models.empty())
    throw BadInput("--matrix of what?", "name systems with --on and models with --model");
  if (options.json || !options.export_file.empty()) {
    LitmusTests quick = files.tests;
    std::erase_if(quick, [](const auto& test) { return !has_tag(*test, "quick"); });
    if (!options.export_file.empty()) ensure_writable(options.export_file);
    const json documents = documents_of(options, named, quick);
    if (interrupted().load()) return 130;
    if (options.json)
      print_now(json_text(json{{"schema", view::schema}, {"documents", documents}}, 1) + "\n");
    if (!options.export_file.empty()) {
      write_whole(options.export_file, view::exported_page(std::string(view::page()), documents));
      if (!options.json)
        print_now(fmt::format("{} document{} written to {}\n", documents.size(),
                              documents.size() == 1 ? "" : "s", options.export_file));
    }
    return 0;
  }
  LitmusTests shipped = std::move(files.tests);
  shipped.insert(shipped.end(), files.launches.begin(), files.launches.end());
  return serve(options, named, std::move(shipped));
}

}  // namespace

Command add_view(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("view", view_what);
  app->add_option("WHAT", options->what,
                  "Traces (t.json), tests, systems, or a link of an earlier page ('#/explore?...')");
  add_list(*app, "--on", options->systems, "Systems to run the tests on")->type_name("S,S");
  add_list(*app, "--model", options->models, "Models to judge the tests by")->type_name("M,M");
  app->add_flag("--matrix", options->matrix,
                "Tests by systems and models (without tests: those tagged quick)");
  options->choice.add_to(*app);
  app->add_option("--export", options->export_file,
                  "Write one HTML file that needs neither this command nor a net")
      ->type_name("FILE");
  app->add_flag("--json", options->json, "Print what the page would draw, schema lockstep.view/1");
  app->add_option("--port", options->port,
                  "Where to listen, on this machine alone (default: any that is free)")
      ->check(CLI::Range(1, 65535));
  app->add_flag("--no-open", options->no_open, "Do not open a browser");
  options->limits.add_to(*app, "each search; without it 60 s");
  app->footer(
      "Examples:\n"
      "  lockstep view                                        choose in the browser\n"
      "  lockstep view t.json                                 a counterexample, step by step\n"
      "  lockstep view a.json b.json                          two, side by side\n"
      "  lockstep view mp-agent --on quick-release            explore by hand\n"
      "  lockstep view mp-relaxed-agent --model rmo,tso       executions, and why they are forbidden\n"
      "  lockstep view --matrix --on sc,rfo --model sc        tests by systems and models\n"
      "  lockstep view t.json --export bug.html               for a report\n"
      "\n"
      "docs/view.md shows each. Exit status: 0 when ended by Ctrl-C, 2 bad input.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
