#include "checker/litmus/for_ci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "checker/support/json_text.hpp"
#include "checker/support/registration.hpp"

namespace lockstep {

namespace {

using boost::property_tree::ptree;
using nlohmann::json;

constexpr std::string_view no_verdict = "no verdict: a limit was reached";

void complain(ptree& testcase, const char* element, const char* type, const std::vector<std::string>& lines) {
  ptree& complaint = testcase.add(element, fmt::format("{}", fmt::join(lines, "\n")));
  complaint.put("<xmlattr>.message", lines.empty() ? std::string() : lines.front());
  complaint.put("<xmlattr>.type", type);
}

ptree case_of(const JudgedTest& test) {
  ptree one;
  one.put("<xmlattr>.classname", test.file);
  one.put("<xmlattr>.name", test.name);
  one.put("<xmlattr>.time", fmt::format("{:.3f}", test.seconds));
  std::vector<std::string> lines;
  for (const JudgedTest::Remark& remark : test.remarks) lines.push_back(remark.text);
  switch (test.verdict) {
    case TestVerdict::as_expected:
      break;
    case TestVerdict::differs:
      complain(one, "failure", "differs", lines);
      break;
    case TestVerdict::inconclusive:
      complain(one, "error", "inconclusive", {std::string(no_verdict)});
      break;
    case TestVerdict::error:
      complain(one, "error", "error", test.errors);
      break;
  }
  return one;
}

json location_of(const std::string& file, int line) {
  return {{"physicalLocation", {{"artifactLocation", {{"uri", file}}}, {"region", {{"startLine", line}}}}}};
}

// Errors begin with their place: "FILE:LINE:COLUMN: error: ...".
json result_of(std::string_view rule, std::string text, std::string file) {
  static const std::regex with_place(R"(^(.+?):([0-9]+):[0-9]+: error: )");
  int line = 1;
  std::smatch place;
  if (std::regex_search(text, place, with_place)) {
    file = place[1];
    line = std::stoi(place[2]);
    text = place.suffix();
  }
  json result{{"ruleId", rule},
              {"level", rule == "inconclusive" ? "warning" : "error"},
              {"message", {{"text", std::move(text)}}}};
  if (!file.empty()) result["locations"] = json::array({location_of(file, line)});
  return result;
}

struct RuleText {
  std::string_view id;
  std::string_view text;
};
constexpr std::array rule_texts{
    RuleText{"violation", "A system shows an outcome that the model forbids"},
    RuleText{"failure", "A deadlock or a failed assertion"},
    RuleText{"unexpected", "A verdict differs from the one that the test's file expects"},
    RuleText{"reduction", "A run without reductions says otherwise"},
    RuleText{"inconclusive", "A limit was reached before there was a verdict"},
    RuleText{"error", "A file that cannot be read, or a test that cannot be run"}};

}  // namespace

std::string junit_xml(std::span<const JudgedTest> tests, std::span<const std::string> unread) {
  const auto are = [&](std::initializer_list<TestVerdict> verdicts) {
    return std::count_if(tests.begin(), tests.end(), [&](const JudgedTest& test) {
      return std::find(verdicts.begin(), verdicts.end(), test.verdict) != verdicts.end();
    });
  };
  double seconds = 0;
  for (const JudgedTest& test : tests) seconds += test.seconds;
  ptree suite;
  suite.put("<xmlattr>.name", "lockstep litmus");
  suite.put("<xmlattr>.tests", tests.size() + unread.size());
  suite.put("<xmlattr>.failures", are({TestVerdict::differs}));
  suite.put("<xmlattr>.errors",
            static_cast<std::size_t>(are({TestVerdict::inconclusive, TestVerdict::error})) + unread.size());
  suite.put("<xmlattr>.time", fmt::format("{:.3f}", seconds));
  for (const JudgedTest& test : tests) suite.add_child("testcase", case_of(test));
  for (const std::string& error : unread) {
    JudgedTest file{
        "a file that cannot be read", error.substr(0, error.find(':')), 0, TestVerdict::error, {}, {}};
    file.errors.push_back(error);
    suite.add_child("testcase", case_of(file));
  }
  ptree document;
  document.add_child("testsuites.testsuite", suite);
  std::ostringstream text;
  boost::property_tree::write_xml(text, document,
                                  boost::property_tree::xml_writer_make_settings<std::string>(' ', 1));
  return text.str();
}

std::string sarif_json(std::span<const JudgedTest> tests, std::span<const std::string> unread) {
  json rules = json::array();
  for (const RuleText& rule : rule_texts)
    rules.push_back({{"id", rule.id}, {"shortDescription", {{"text", rule.text}}}});
  json results = json::array();
  for (const JudgedTest& test : tests) {
    for (const JudgedTest::Remark& remark : test.remarks)
      results.push_back(result_of(word(remark.kind), remark.text, test.file));
    for (const std::string& error : test.errors) results.push_back(result_of("error", error, test.file));
    if (test.verdict == TestVerdict::inconclusive)
      results.push_back(result_of("inconclusive", fmt::format("{}: {}", test.name, no_verdict), test.file));
  }
  for (const std::string& error : unread) results.push_back(result_of("error", error, {}));
  const json driver{{"name", "lockstep"}, {"version", headers_version}, {"rules", std::move(rules)}};
  return json_text(
             json{{"version", "2.1.0"},
                  {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                  {"runs", json::array({{{"tool", {{"driver", driver}}}, {"results", std::move(results)}}})}},
             1) +
         "\n";
}

}  // namespace lockstep
