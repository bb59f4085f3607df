// What the page in the browser asks, answered: every address below the token of one run of the command.
//
// Nothing here knows of sockets. Only what was named on the command line, or comes with Lockstep, is ever
// read: an address names systems, tests and models, never files.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "checker/language/read_tests.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/trace/trace.hpp"
#include "checker/view/exploration.hpp"
#include "checker/view/matrix.hpp"

namespace lockstep::view {

struct Request {
  std::string path;  // "/TOKEN/api/explore"
  std::multimap<std::string, std::string> parameters;
  std::string host;  // as the Host field says, with its port
  bool posts = false;
};

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

struct SiteOptions {
  std::string token;                // nobody else knows it
  std::vector<std::string> hosts;   // that a request may name: "127.0.0.1:8417"
  std::string page;                 // the page's text (page.hpp)
  LitmusTests tests;                // by which names may be asked for, programs and launches
  std::vector<std::string> models;  // names and files, likewise
  std::vector<std::pair<std::string, RecordedTrace>> traces;  // by their titles: documents 0, 1, ...
  nlohmann::json first;              // where the page opens: a list of places, "#/run/0"
  std::vector<std::string> systems;  // of the matrix, where none are asked for
  RunLimits limits;                  // time: of one search
};

class Site {
 public:
  explicit Site(SiteOptions options);

  // From any thread. Never throws: what goes wrong is an answer.
  Answer answer(const Request& request);
  // Ends what is being searched for, from any thread.
  void stop();

 private:
  using Parameters = std::multimap<std::string, std::string>;
  // A walk, and whoever steers it now.
  struct Session {
    std::mutex mutex;
    std::unique_ptr<Exploration> exploration;
    std::uint64_t used = 0;
  };
  // Something that takes long, and whether it is still wanted.
  struct Job {
    Job() = default;
    ~Job() {
      stop = true;
      if (thread.joinable()) thread.join();
    }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    std::atomic<bool> stop = false;
    std::unique_ptr<Matrix> matrix;
    std::thread thread;
  };

  [[nodiscard]] Answer dispatch(const Request& request);
  [[nodiscard]] nlohmann::json ask(const std::string& what, const Parameters& parameters, bool posts);
  [[nodiscard]] nlohmann::json catalogue() const;
  [[nodiscard]] nlohmann::json machine(const Parameters& parameters) const;
  [[nodiscard]] nlohmann::json run(const Parameters& parameters) const;
  [[nodiscard]] nlohmann::json outcomes(const Parameters& parameters);
  [[nodiscard]] nlohmann::json executions(const Parameters& parameters);
  [[nodiscard]] nlohmann::json explore(const Parameters& parameters);
  [[nodiscard]] nlohmann::json matrix(const Parameters& parameters);
  [[nodiscard]] std::shared_ptr<Session> session(const Parameters& parameters);
  [[nodiscard]] std::shared_ptr<const LitmusTest> test_named(const std::string& name) const;
  [[nodiscard]] std::shared_ptr<const AxiomaticModel> model_of(const std::string& name);
  [[nodiscard]] std::shared_ptr<Job> job_named(const std::string& name);
  void make_room();
  [[nodiscard]] RunLimits limits_of(const std::shared_ptr<Job>& job) const;

  SiteOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Session>> sessions_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::map<std::string, std::shared_ptr<const AxiomaticModel>> models_;
  std::uint64_t uses_ = 0;
};

// The page with documents in it, that needs nobody to answer: for a file.
std::string exported_page(const std::string& page, const nlohmann::json& documents);

}  // namespace lockstep::view
