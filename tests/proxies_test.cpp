// PTX 7.5: accesses through proxies and through several addresses of one location, and the fences between
// them.
#include <catch2/catch.hpp>
#include <string>

#include "checker/axiomatic/model.hpp"
#include "checker/language/test.hpp"
#include "checker/races/races.hpp"
#include "checker/support/diagnostic.hpp"

using namespace lockstep;

namespace {

const std::string names =
    "x = 0; s @ surface aliases x; t @ texture aliases x; c @ constant aliases x; "
    "y @ generic aliases x; sy @ surface aliases y; flag = 0;";

bool seen(const std::string& text) {
  static const AxiomaticModel model("ptx-v7.5");
  const ModelRun run = judge(parse_litmus(text, "t.litmus"), model);
  INFO(text << run.message);
  REQUIRE(run.status == RunStatus::complete);
  REQUIRE(run.executions > 0);
  return run.tally.positive > 0;
}

// One thread writes 2, goes through fences, and reads. Whether it may miss what it wrote.
bool misses(const std::string& write, const std::string& fences, const std::string& read) {
  return seen("PTX t\n{ " + names + " }\n P0@cta 0,gpu 0 ;\n " + write + " ;\n" + fences + " " + read +
              " ;\nexists (P0:r1 != 2)\n");
}

// P0 writes 2 and releases a flag; P1, which acquires it, reads. Whether P1 may miss it.
bool stale(const std::string& write, const std::string& before, const std::string& after,
           const std::string& last, const std::string& read, const std::string& p1 = "cta 0,gpu 0") {
  return seen("PTX t\n{ " + names + " }\n P0@cta 0,gpu 0 | P1@" + p1 + " ;\n " + write +
              " | ld.acquire.gpu r0, flag ;\n " + before + " | " + after + " ;\n st.release.gpu flag, 1 | " +
              last + " ;\n | " + read + " ;\nexists (P1:r0 == 1 /\\ P1:r1 != 2)\n");
}

const std::string surface = "fence.proxy.surface";
const std::string texture = "fence.proxy.texture";
const std::string alias = "fence.proxy.alias";
const std::string other_cta = "cta 1,gpu 0";

}  // namespace

TEST_CASE("PTX 7.5: a thread sees its own writes through one proxy, and through others after a fence",
          "[models]") {
  CHECK_FALSE(misses("st.weak x, 2", "", "ld.weak r1, x"));
  CHECK_FALSE(misses("sust.weak s, 2", "", "suld.weak r1, s"));
  CHECK(misses("st.weak x, 2", "", "suld.weak r1, s"));
  CHECK_FALSE(misses("st.weak x, 2", surface + " ;\n", "suld.weak r1, s"));
  CHECK(misses("sust.weak s, 2", texture + " ;\n", "tld.weak r1, t"));
  CHECK(misses("sust.weak s, 2", texture + " ;\n " + surface + " ;\n", "tld.weak r1, t"));
  CHECK_FALSE(misses("sust.weak s, 2", surface + " ;\n " + texture + " ;\n", "tld.weak r1, t"));
  CHECK(misses("st.weak x, 2", "", "ld.weak r1, y"));
  CHECK_FALSE(misses("st.weak x, 2", alias + " ;\n", "ld.weak r1, y"));
}

TEST_CASE("PTX 7.5: what is handed over passes the fences of both proxies, each in its own CTA", "[models]") {
  CHECK_FALSE(stale("st.weak x, 2", "", "", "", "ld.weak r1, x"));
  CHECK_FALSE(stale("sust.weak s, 2", surface, texture, "", "tld.weak r1, t"));
  CHECK(stale("sust.weak s, 2", texture, surface, "", "tld.weak r1, t"));
  CHECK_FALSE(stale("sust.weak s, 2", "", surface, texture, "tld.weak r1, t"));
  CHECK(stale("sust.weak s, 2", "", texture, surface, "tld.weak r1, t"));
  CHECK(stale("sust.weak s, 2", "", surface, texture, "tld.weak r1, t", other_cta));
  // Within a CTA a proxy needs no fence for itself.
  CHECK_FALSE(stale("sust.weak s, 2", "", "", "", "suld.weak r1, s"));
  CHECK(stale("sust.weak s, 2", "", "", "", "suld.weak r1, s", other_cta));
  CHECK_FALSE(stale("sust.weak s, 2", surface, surface, "", "suld.weak r1, s", other_cta));
  CHECK_FALSE(stale("st.weak x, 2", "", "fence.proxy.constant", "", "cold.weak r1, c", other_cta));
  CHECK(stale("st.weak x, 2", "fence.proxy.constant", "", "", "cold.weak r1, c", other_cta));
}

TEST_CASE("PTX 7.5: another address takes a fence between the two, and one for each proxy around it",
          "[models]") {
  CHECK(stale("st.weak x, 2", "", "", "", "ld.weak r1, y"));
  CHECK_FALSE(stale("st.weak x, 2", alias, "", "", "ld.weak r1, y", other_cta));
  CHECK_FALSE(stale("st.weak x, 2", "", alias, surface, "suld.weak r1, sy", other_cta));
  CHECK(stale("st.weak x, 2", "", surface, alias, "suld.weak r1, sy", other_cta));
  CHECK(stale("st.weak x, 2", "", surface, "", "suld.weak r1, sy", other_cta));
}

TEST_CASE("PTX 7.5: addresses share one memory, whose last value has either name", "[models]") {
  CHECK(seen("PTX t\n{ " + names +
             " }\n P0@cta 0,gpu 0 ;\n st.weak y, 1 ;\nexists (x == 1 /\\ y == 1 /\\ s == 1)\n"));
  CHECK_FALSE(seen("PTX t\n{ " + names + " }\n P0@cta 0,gpu 0 ;\n st.weak y, 1 ;\nexists (x == 0)\n"));
}

TEST_CASE("memory systems and the search for races take no proxies", "[models]") {
  const auto refused = [](const std::string& row) {
    const Program program =
        parse_litmus("PTX t\n{ x = 0; }\n P0@cta 0,gpu 0 ;\n " + row + " ;\n", "t.litmus").program;
    CHECK_THROWS_WITH(analyse_races(program), Catch::Contains("which models alone understand"));
  };
  refused("sust.weak x, 1");
  refused("fence.proxy.alias");
}
