// Lists of accesses: what is accessed is counted by hand, and what is no list is refused with its place.
#include "refimpl/workloads/access_list.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "checker/support/process.hpp"
#include "refimpl/comparison.hpp"
#include "tests/machines.hpp"

using namespace lockstep;
using Catch::Matchers::Contains;

namespace {

class ListFile {
 public:
  explicit ListFile(const std::string& text, const std::string& name = "list.csv")
      : file_((folder_.path() / name).string()) {
    std::ofstream(file_) << text;
  }
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  TemporaryFolder folder_;
  std::string file_;
};

ComparedRun run(const std::string& file, const std::string& system = "write-through", int cus = 8) {
  SimulationRequest request;
  request.machine = read_machine(machines_folder + "/apu.toml", machines_folder);
  request.machine.cus = cus;
  request.systems = {system};
  request.options.profile = true;
  const std::atomic<bool> never = false;
  return run_workload(request, file, never);
}
std::uint64_t count_of(const Statistics& s, const std::string& operation) {
  for (const Statistics::Operation& o : s.operations) {
    if (o.name == operation) return o.count;
  }
  return 0;
}
std::string error_of(const std::string& text) {
  const ListFile list(text);
  try {
    run(list.file());
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

const std::string head = "wave,operation,address,bytes,order,scope,cycles,work_group\n";

}  // namespace

TEST_CASE("Access lists: words of 64 bytes, as many as an access touches") {
  const ListFile list(
      "operation,wave,address,bytes\n"
      "load,0,0,64\n"     // one word
      "load,0,0x20,64\n"  // two: it lies across
      "store,0,4096,1\n"  // one
      "load,1,128,256\n"  // four
      "add,1,8192,4\n"    // one
      "exchange,0,8192,4\n"
      "store,2,0x40000000,\n");  // 64 bytes, far away
  for (const std::string system : {"write-through", "quick-release", "rfo", "lab", "sc"}) {
    INFO(system);
    const ComparedRun compared = run(list.file(), system);
    const SystemResult& r = compared.results.at(0);
    CHECK(r.end == SimulationEnd::finished);
    CHECK(compared.checked == 0);
    CHECK(count_of(r.statistics, "load") == 1 + 2 + 4);
    CHECK(count_of(r.statistics, "store") == 2);
    CHECK(count_of(r.statistics, "rmw") == 2);
    CHECK(r.statistics.atomics >= 2);
  }
}

TEST_CASE(
    "Access lists: kernels run one after the other, and work-groups that there is no room for in turn") {
  std::string text = "kernel,work_group,wave,operation,address\n";
  // 1000 work-groups of one wave where 8 CUs have room for 40 waves each.
  for (int w = 0; w < 1000; ++w)
    text += "3," + std::to_string(w) + "," + std::to_string(w) + ",load," + std::to_string(64 * w) + "\n";
  text += "7,0,0,store,0\n7,5,1,store,64\n";
  const ListFile list(text);
  const ComparedRun compared = run(list.file());
  const Statistics& s = compared.results.at(0).statistics;
  CHECK(compared.results.at(0).end == SimulationEnd::finished);
  REQUIRE(s.profile->kernels.size() == 2);
  CHECK(s.profile->kernels[0].name == "kernel 3");
  CHECK(s.profile->kernels[0].counters.at("loads") == 1000);
  CHECK(s.profile->kernels[1].name == "kernel 7");
  CHECK(s.profile->kernels[1].counters.at("stores") == 2);
  CHECK(s.profile->kernels[1].from > s.profile->kernels[0].to);
}

TEST_CASE("Access lists: orders are those of the list, waves meet at barriers, and pauses take their time") {
  const ListFile plain(
      head + "0,store,0,,,,,0\n0,store,64,,,,,0\n1,pause,,,,,1000,1\n1,load,64,,,,,1\n1,load,0,,,,,1\n");
  const ListFile ordered(head +
                         "0,store,0,,,,,0\n0,store,64,,release,agent,,0\n1,pause,,,,,1000,1\n1,load,64,,"
                         "acquire,agent,,1\n1,load,0,,,,,1\n");
  const Statistics a = run(plain.file()).results.at(0).statistics;
  const Statistics b = run(ordered.file()).results.at(0).statistics;
  CHECK(a.cycles > 1000);
  CHECK(b.atomics == a.atomics + 2);
  // A work-group's waves wait for the slowest, also those that come to fewer barriers.
  const ListFile barriers(head +
                          "0,pause,,,,,2000,0\n0,barrier,,,,,,0\n0,barrier,,,,,,0\n1,barrier,,,,,,0\n"
                          "1,store,0,,,,,0\n2,store,64,,,,,0\n");
  const ComparedRun compared = run(barriers.file());
  CHECK(compared.results.at(0).end == SimulationEnd::finished);
  CHECK(compared.results.at(0).statistics.profile->activities.at("waiting at barriers") > 2 * 1900);
  // A fence orders without being asked to.
  CHECK_THAT(error_of(head + "0,store,0\n"), Contains("3 fields where 8 columns are named"));
  const ListFile fenced("wave,operation,address\n0,store,0\n0,fence,\n");
  const Statistics f = run(fenced.file()).results.at(0).statistics;
  const ListFile unfenced("wave,operation,address\n0,store,0\n");
  CHECK(count_of(f, "fence") == count_of(run(unfenced.file()).results.at(0).statistics, "fence") + 1);
}

TEST_CASE("Access lists: they may be packed, and the one that is shipped runs") {
  const std::string shipped = LOCKSTEP_SOURCE_DIR "/examples/access-list/accesses.csv";
  for (const std::string system : {"write-through", "quick-release", "lab"}) {
    const ComparedRun compared = run(shipped, system);
    CHECK(compared.results.at(0).end == SimulationEnd::finished);
    CHECK(count_of(compared.results.at(0).statistics, "load") == 1 + 2 + 4 + 4);
  }
  const ListFile list("wave,operation,address\n0,load,0\n");
  if (std::system(("xz -k '" + list.file() + "' 2>/dev/null").c_str()) == 0)
    CHECK(count_of(run(list.file() + ".xz").results.at(0).statistics, "load") == 1);
}

TEST_CASE("Access lists: what is none is refused with its place") {
  CHECK_THAT(error_of(""), Contains("the list is empty"));
  CHECK_THAT(error_of("wave,operation,address\n"), Contains("no access"));
  CHECK_THAT(error_of("wave,operation,adress\n"),
             Contains(":1: ") && Contains("unknown column 'adress'") && Contains("did you mean 'address'?"));
  CHECK_THAT(error_of("wave,wave,operation\n"), Contains("two columns 'wave'"));
  CHECK_THAT(error_of("operation,address\n"), Contains("no column 'wave'"));
  const std::string short_head = "wave,operation,address\n";
  CHECK_THAT(error_of(short_head + "0,load,0\n0,laod,0\n"),
             Contains(":3: ") && Contains("unknown operation 'laod'") && Contains("did you mean 'load'?"));
  CHECK_THAT(error_of(short_head + "0,load,\n"), Contains("no address of it"));
  CHECK_THAT(error_of(short_head + "-1,load,0\n"), Contains("wave '-1' is no whole number"));
  CHECK_THAT(error_of(short_head + "x,load,0\n"), Contains("wave 'x' is no whole number"));
  CHECK_THAT(error_of(short_head + "0,load,0x\n"), Contains("address '0x' is no whole number"));
  CHECK_THAT(error_of(short_head + "0,load,0xffffffffffffffff\n"), Contains("is not between"));
  CHECK_THAT(error_of(short_head + "0,load,99999999999999999999999\n"), Contains("is not between"));
  CHECK_THAT(error_of(short_head + "0,load,1 000\n"), Contains("address '1 000' is no whole number"));
  CHECK(error_of("\xEF\xBB\xBFwave, \"operation\" ,address\n 0 ,\"load\", 0x40 \n") == "no error");
  CHECK_THAT(error_of(short_head + "0,load\n"), Contains("2 fields where 3 columns are named"));
  CHECK_THAT(error_of("wave,operation,address,bytes\n0,load,0,0\n"),
             Contains("bytes 0 is not between 1 and 4096"));
  CHECK_THAT(error_of("wave,operation,address,order\n0,load,0,release\n"),
             Contains("a load does not release"));
  CHECK_THAT(error_of("wave,operation,address,order\n0,store,0,acq_rel\n"),
             Contains("a store does not acquire"));
  CHECK_THAT(error_of("wave,operation,address,order\n0,store,0,relesae\n"),
             Contains("did you mean 'release'?"));
  CHECK_THAT(error_of("wave,operation,address,scope\n0,store,0,gpu\n"), Contains("unknown scope 'gpu'"));
  CHECK_THAT(error_of("wave,operation,cycles\n0,pause,\n"), Contains("no cycles of it"));
  CHECK_THAT(error_of("wave,operation,address,kernel\n0,load,0,2\n0,load,0,1\n"),
             Contains("kernel 1 comes behind kernel 2") && Contains("sort"));
  CHECK_THAT(error_of("wave,operation,address,work_group\n0,load,0,2\n0,load,0,1\n"),
             Contains("wave 0 is in work-group 2 and in 1"));
  std::string large = "wave,operation,address,work_group\n";
  for (int w = 0; w < 41; ++w) large += std::to_string(w) + ",load,0,0\n";
  CHECK_THAT(error_of(large), Contains("has 41 waves, and a CU of this machine 40"));
  CHECK_THAT(error_of(std::string("wave,operation,address\n0,load,\0", 34)), Contains("NUL byte"));
}
