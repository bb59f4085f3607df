// What happened when, for viewers of traces: the trace event format in JSON that Perfetto (ui.perfetto.dev)
// and chrome://tracing read. Each wave has a track of its operations, from issue to completion; each unit one
// of the rules that it performed, as long as they keep it busy; and what is done for an operation is joined
// to it by a flow. Or the same within a page that shows it by itself (timeline.html), for those who have no
// such viewer, or send it to somebody.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checker/support/process.hpp"
#include "refimpl/simulator.hpp"

namespace lockstep {

class Timeline final : public SimulationObserver {
 public:
  // Writes beside the file until close(): a page if it is called *.html, else JSON. Throws BadInput where
  // that cannot be written. `gigahertz` is the clock of the cycles that are told.
  Timeline(const std::string& file, const std::string& title, double gigahertz);

  void fired(const Firing& firing) override;
  void completed(const Operation& operation) override;
  // Ends the text and puts the file in its place. Throws BadInput where it could not be written whole.
  void close();
  [[nodiscard]] bool is_page() const { return !behind_.empty(); }

 private:
  // Tracks are named when they are first used; of one kind they stand together.
  int process(std::string_view kind);
  void name_track(int process, std::size_t number, const std::string& name);
  void event(std::string json);
  // Within a page no tag may end the script that it lies in.
  [[nodiscard]] std::string text(std::string json) const;
  [[nodiscard]] double microseconds(double cycles) const { return cycles / gigahertz_ / 1000; }

  WholeFile file_;
  std::string behind_;  // the rest of the page, if it is one
  double gigahertz_;
  bool first_ = true;
  std::map<std::string, int, std::less<>> processes_;
  std::map<std::pair<int, std::size_t>, bool> named_;
  // By wave: a number for the operation under way, and the firings done for it.
  struct Flow {
    std::uint64_t operations = 0;
    bool begun = false;
  };
  std::map<std::size_t, Flow> flows_;
};

}  // namespace lockstep
