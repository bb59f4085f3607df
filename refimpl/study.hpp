// Studies: systems that a paper puts side by side, on its machine and on workloads, or programs on one
// system; one file each (studies/*.toml). Every bar is a ratio to the first system, beside the paper's where
// its text has one, and comes with the range over which it lies for all that the machine file assumes
// (sweep.hpp).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "refimpl/sweep.hpp"

namespace lockstep {

struct Study {
  struct Panel {
    std::string title;
    std::string figure;                   // of `lockstep sim`
    std::map<std::string, double> paper;  // by system: the paper's mean, relative to the first
    std::vector<std::string> systems;     // that have the figure; none: all
    [[nodiscard]] bool is_of(const std::string& system) const;
    // Not a number where its text has none.
    [[nodiscard]] double paper_of(const std::string& system) const;
  };
  struct Bar {
    std::string workload;            // none where programs are compared
    std::vector<std::string> sizes;  // "words=1024"
    std::string title;
    MachineSettings settings;  // of this bar's machine, besides the study's
    [[nodiscard]] std::string name() const;
  };
  // One of those that are compared, in place of systems: a workload by another name, with sizes of its own.
  struct Program {
    std::string name;
    std::string workload;
    std::vector<std::string> sizes;
  };
  std::string name;
  std::string title;
  std::string source;
  std::string machine;       // a shipped one
  MachineSettings settings;  // of that machine, said otherwise
  std::uint64_t cycles = 0;  // after which a run is given up; 0: never
  // What is compared, programs by their names; the first is what the others are relative to.
  std::vector<std::string> systems;
  std::vector<Program> programs;
  std::string on;                    // the system on which programs are compared
  std::vector<std::string> missing;  // of the paper's, those that Lockstep does not have
  std::vector<Panel> panels;
  std::vector<Bar> bars;
};

// `file` is named in errors. Throws BadInput, with the place, on what is missing, unknown or of the wrong
// type.
Study parse_study(std::string_view text, const std::string& file);

// The ratios of a panel's bars with what can be said of each, and their geometric mean: as the machine file
// stands. A bar without a ratio (nothing was counted on the first system) is left out of the mean. One sweep
// a bar, in their order.
struct PanelRatios {
  std::vector<std::vector<double>> bars;             // [bar][system]; not a number: none
  std::vector<std::vector<Conclusion>> conclusions;  // likewise
  std::vector<double> mean;                          // by system
};
PanelRatios ratios_of(const Study& study, const Study::Panel& panel, const std::vector<Sweep>& sweeps);

// For people, within 80 columns.
std::string study_text(const Study& study, const std::vector<Sweep>& sweeps);
nlohmann::ordered_json study_json(const Study& study, const std::vector<Sweep>& sweeps);  // lockstep.study/1
// Bars with their ranges, a row of them a panel, as a program for gnuplot that writes SVG.
std::string study_plot(const Study& study, const std::vector<Sweep>& sweeps, const std::string& file);

}  // namespace lockstep
