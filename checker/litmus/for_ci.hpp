// A litmus run as other people's CI reads it: JUnit's XML for a list of tests, SARIF 2.1.0 for remarks beside
// lines of files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "checker/litmus/suite.hpp"

namespace lockstep {

// One test, on all systems and under all models.
struct JudgedTest {
  std::string name;
  std::string file;
  double seconds = 0;
  TestVerdict verdict = TestVerdict::as_expected;
  struct Remark {
    Finding::Kind kind;
    std::string text;  // a line
  };
  std::vector<Remark> remarks;
  std::vector<std::string> errors;
};

// Of a TestReport or a ModelReport, and its finding_lines.
template <class Report>
JudgedTest judged_test(const Report& report, const std::vector<std::string>& lines) {
  JudgedTest test{report.test->name, report.test->file, report.seconds, report.verdict(), {},
                  report.errors()};
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    test.remarks.push_back({report.findings[i].kind, lines[i]});
  return test;
}

// A test that differs has failed; one without a verdict, since a limit was reached, is an error, as is a file
// that cannot be read: neither may pass for green.
std::string junit_xml(std::span<const JudgedTest> tests, std::span<const std::string> unread);

// One result for each remark and error; the rules are the kinds of findings.
std::string sarif_json(std::span<const JudgedTest> tests, std::span<const std::string> unread);

}  // namespace lockstep
