// How near kernels come to what a machine could do at most: issue slots of its CUs, and the bandwidth of its
// DRAM. After the instruction roofline (Ding and Williams, "An Instruction Roofline Model for GPUs", 2019):
// the more a kernel issues for each byte, the less memory holds it up.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "refimpl/comparison.hpp"

namespace lockstep {

struct Roofline {
  struct Point {
    std::string system;
    std::string workload;
    std::string kernel;      // empty: of the whole run
    double per_cycle = 0;    // turns that CUs took for their waves
    double bytes = 0;        // a cycle, from and to DRAM
    double issue_peak = 0;   // turns a cycle, of all CUs together
    double memory_peak = 0;  // bytes a cycle
    [[nodiscard]] double per_byte() const { return per_cycle / bytes; }
    // Which share of what is possible at most at so many turns a byte, and whether memory says so.
    [[nodiscard]] double share() const;
    [[nodiscard]] bool by_memory() const;
  };
  std::vector<Point> points;
};

// Of runs with a profile: a point for each kernel that has ended, or for a run that has none.
Roofline roofline_of(const std::vector<ComparedRun>& runs);

// For people, within 80 columns.
std::string roofline_text(const Roofline& roofline);
nlohmann::ordered_json roofline_json(const Roofline& roofline);
// A program for gnuplot that writes SVG. Kernels without traffic at DRAM lie at no place there.
std::string roofline_plot(const Roofline& roofline, const std::string& file);

}  // namespace lockstep
