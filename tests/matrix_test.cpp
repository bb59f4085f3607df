// Systems against models: relations are those that are known, and do not depend on how the work was shared.
#include "checker/generate/matrix.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"

using namespace lockstep;
using namespace lockstep::generate;

namespace {

MatrixOptions matrix_of(const std::vector<std::string>& systems, const std::vector<std::string>& models,
                        int up_to) {
  MatrixOptions options;
  options.generate.up_to = up_to;
  for (const std::string& name : systems) options.systems.push_back(subject_named(name));
  for (const std::string& name : models) {
    const bool races = name.starts_with("hrf-") || name == "drf";
    options.models.push_back(races ? race_free_model(name == "drf" ? RaceModel::drf : RaceModel::hrf_indirect)
                                   : axiomatic_model(name));
  }
  options.limits.threads = 2;
  return options;
}

nlohmann::json without_time(const MatrixReport& report) {
  nlohmann::json json = matrix_json(report);
  for (const char* key : {"seconds", "resumed", "shard"}) json.erase(key);
  return json;
}

}  // namespace

TEST_CASE("SC is SC, stronger than TSO by store buffering, and than RMO by more") {
  const MatrixReport report = conform_matrix(matrix_of({"sc"}, {"sc", "tso", "rmo", "hrf-indirect"}, 4));
  CHECK(report.done == report.tests);
  const auto& cells = report.cells.front();
  CHECK(relation(cells[0]) == Relation::equal);
  CHECK(cells[0].judged == report.tests);
  CHECK(relation(cells[1]) == Relation::stronger);
  REQUIRE(cells[1].lack);
  CHECK(report.names.at(cells[1].lack->test).second == "SB");
  CHECK(cells[1].lack->outcome == "P0:r0=0; P1:r0=0;");
  CHECK(relation(cells[2]) == Relation::stronger);
  CHECK(cells[2].lacking > cells[1].lacking);
  CHECK(relation(cells[3]) == Relation::equal);
  CHECK(cells[3].judged == report.owed[3]);
  CHECK(report.owed[3] < report.tests);
  CHECK(exit_status(report) == 0);
  CHECK_THAT(matrix_text(report), Catch::Contains("never shows, and the model allows") &&
                                      Catch::Contains("1 systems against 4 models"));
}

TEST_CASE("a fault makes a system weaker, with the test that convicts it") {
  MatrixOptions options = matrix_of({"write-through", "write-through"}, {"hrf-indirect", "sc"}, 3);
  options.systems[1].options.faults = {"early-acknowledgement"};
  const MatrixReport report = conform_matrix(options);
  CHECK(relation(report.cells[0][0]) == Relation::equal);
  CHECK(relation(report.cells[1][0]) == Relation::weaker);
  REQUIRE(report.cells[1][0].violation);
  CHECK(report.names.at(report.cells[1][0].violation->test).first == "W+ke+R+fr.a0b1");
  CHECK(report.cells[1][1].violations >= report.cells[1][0].violations);
}

TEST_CASE("what an old copy shows takes a warm cache to see, and a model without kernels judges none") {
  MatrixOptions options = matrix_of({"write-through"}, {"sc", "rc11"}, 3);
  CHECK(relation(conform_matrix(options).cells[0][0]) == Relation::equal);
  const std::size_t plain = conform_matrix(options).owed[1];
  options.generate.warm = true;
  const MatrixReport report = conform_matrix(options);
  CHECK(relation(report.cells[0][0]) == Relation::weaker);
  CHECK(report.names.at(report.cells[0][0].violation->test).first == "by1-R-po-R+fr+W+rf.a0b0");
  CHECK(plain > 0);
  CHECK(plain < report.owed[0]);
}

TEST_CASE("a matrix is the same from shards, from a journal, and by any number of threads") {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const MatrixOptions options = matrix_of({"sc", "write-through"}, {"sc", "hrf-indirect"}, 3);
  const nlohmann::json whole = without_time(conform_matrix(options));
  MatrixOptions other = options;
  other.limits.threads = 1;
  CHECK(without_time(conform_matrix(other)) == whole);

  MatrixOptions first = options;
  first.shard = parse_shard("1/2");
  first.journal = file("1");
  const MatrixReport half = conform_matrix(first);
  CHECK(half.done < half.tests);
  CHECK_THAT(matrix_text(half), Catch::Contains("in part") && Catch::Contains("shard 1 of 2"));
  MatrixOptions second = options;
  second.shard = parse_shard("2/2");
  second.journal = file("2");
  second.merged = {file("1")};
  const MatrixReport both = conform_matrix(second);
  CHECK(both.resumed == half.done);
  CHECK(without_time(both) == whole);

  MatrixOptions resumed = options;
  resumed.journal = file("2");
  resumed.merged = {file("1")};
  const MatrixReport again = conform_matrix(resumed);
  CHECK(again.resumed == again.tests);
  CHECK(without_time(again) == whole);
}

TEST_CASE("journals of other matrices and shards that are none are refused") {
  const TemporaryFolder folder;
  MatrixOptions options = matrix_of({"sc"}, {"sc"}, 3);
  options.journal = (folder.path() / "j").string();
  conform_matrix(options);
  options.models = {axiomatic_model("tso")};
  CHECK_THROWS_WITH(conform_matrix(options), Catch::Contains("another run") && Catch::Contains("models"));
  options.journal.clear();
  options.merged = {(folder.path() / "none").string()};
  CHECK_THROWS_WITH(conform_matrix(options), Catch::Contains("there is no journal"));
  for (const char* text : {"", "1", "0/2", "3/2", "1/x", "a/2", "1/2/3"})
    CHECK_THROWS_WITH(parse_shard(text), Catch::Contains("is no shard"));
}
