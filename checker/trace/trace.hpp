// Counterexamples that outlive their run: as text for people, and as a JSON file from which `lockstep replay`
// fires every step again.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/runs/subject.hpp"

namespace lockstep {

// What the last state of a trace shows.
enum class TraceEnd : std::uint8_t {
  invariant,  // violates the invariant that is named
  deadlock,   // no fair rule is enabled, before a proper end
  outcome,    // a proper end with the registers and locations that are named
  cycle,      // is the state of step `loop_start` again: the steps behind that one go round for ever
  broken,     // lets the rule that is named do what its types do not allow
  state,      // is what is said of it
};

// A trace without reference to the model that it came from.
struct RecordedTrace {
  struct Step {
    std::string rule;                     // as the model names it; of the first step, "starts"
    std::vector<std::string> parameters;  // "cu 0"
    std::vector<NarratedStep> narration;  // the rules that fired, urgent ones included
    std::vector<std::uint64_t> state;     // packed, after the step
  };
  Subject subject;
  TraceEnd end = TraceEnd::invariant;
  std::string what;  // the invariant, the outcome "P1:r0=1; P1:r1=0;", the rule and what it does
  unsigned state_bits = 0;
  std::size_t initial = 0;                // which of the initial states
  std::vector<Step> steps;                // steps[0] is the initial state
  std::optional<std::size_t> loop_start;  // where the end is a cycle
};

RecordedTrace record(const Subject& subject, const Model& model, const Trace& trace, TraceEnd end,
                     std::string what);

// Step by step: the rule, its unit, its place in the source, and the fields that changed, before -> after.
std::string trace_text(const RecordedTrace& trace);
// One line: "violates: no two owners", "deadlock", "ends with P1:r0=1; P1:r1=0;".
std::string trace_end_text(const RecordedTrace& trace);

// All that says what is explored, with the program's text.
nlohmann::json whole_subject_json(const Subject& subject);
nlohmann::json trace_json(const RecordedTrace& trace);
// Throws BadInput where the text is not a trace; `file` is for the message.
RecordedTrace parse_trace(const std::string& text, const std::string& file);

// Throw BadInput where the file cannot be read or written.
RecordedTrace read_trace(const std::string& file);
void write_trace(const RecordedTrace& trace, const std::string& file);

struct Replay {
  RecordedTrace trace;  // as it ran now, up to and including the last step that agreed
  // Why the system no longer does what the trace says; empty where every step and the end agree.
  std::string difference;
  std::size_t different_step = 0;  // the step at fault, where there is a difference
};

// Builds the subject anew, fires every step and compares the states. Throws BadInput where the trace's
// options do not fit the system any more.
Replay replay(const RecordedTrace& trace);

// The steps as they ran now, then whether all is as recorded, or which step differs and how.
std::string replay_text(const RecordedTrace& recorded, const Replay& replayed);
// Schema lockstep.replay/1.
nlohmann::json replay_json(const RecordedTrace& recorded, const Replay& replayed);

}  // namespace lockstep
