// Executions that somebody can look at, keep and fire again.
#include <memory>

#include "checker/litmus/runner.hpp"
#include "checker/trace/trace.hpp"
#include "python/objects.hpp"

namespace lockstep::python {

namespace fs = std::filesystem;

void declare_traces(py::module_& module) {
  py::class_<FieldChange>(module, "Change", "A field that a rule changed.");
  py::class_<NarratedStep>(module, "Fired", "A rule that fired, as people read it.");
  py::class_<RecordedTrace::Step>(module, "TraceStep",
                                  "A step of a trace, with what was taken at once with it.");
  py::class_<RecordedTrace>(module, "Trace",
                            "An execution, step by step, to something that is worth a look.");
  py::class_<Replay>(module, "Replay", "A trace, fired again.");
}

void define_traces(py::module_& module) {
  declared<FieldChange>(module, "Change")
      .def_property_readonly("path", [](const FieldChange& c) { return text(c.path); })
      .def_property_readonly("before", [](const FieldChange& c) { return field_value(c.before); })
      .def_property_readonly("after", [](const FieldChange& c) { return field_value(c.after); })
      .def("__str__", [](const FieldChange& c) { return text(c.path + ": " + c.before + " -> " + c.after); })
      .def("__repr__", [](const FieldChange& c) {
        return text("<lockstep.Change " + c.path + ": " + c.before + " -> " + c.after + ">");
      });
  declared<NarratedStep>(module, "Fired")
      .def_property_readonly(
          "rule", [](const NarratedStep& s) { return text(s.rule); },
          "With its parameters: 'wL1 evicts (cu 0, block 1)'.")
      .def_property_readonly("unit", [](const NarratedStep& s) { return text(s.unit); })
      .def_property_readonly("source", [](const NarratedStep& s) { return text(s.source); })
      .def_readonly("changes", &NarratedStep::changes)
      .def("__str__", [](const NarratedStep& s) { return text(s.rule); })
      .def("__repr__", [](const NarratedStep& s) { return text("<lockstep.Fired " + s.rule + ">"); });
  declared<RecordedTrace::Step>(module, "TraceStep")
      .def_property_readonly(
          "rule", [](const RecordedTrace::Step& s) { return text(s.rule); }, "Of the first step 'starts'.")
      .def_property_readonly(
          "parameters", [](const RecordedTrace::Step& s) { return texts(s.parameters); }, "['thread 1'].")
      .def_readonly("narration", &RecordedTrace::Step::narration,
                    "The rules that fired, one after the other, with the fields that they changed.")
      .def("__repr__",
           [](const RecordedTrace::Step& s) { return text("<lockstep.TraceStep " + s.rule + ">"); });
  declared<RecordedTrace>(module, "Trace")
      .def_property_readonly("system", [](const RecordedTrace& t) { return text(t.subject.description()); })
      .def_property_readonly(
          "client", [](const RecordedTrace& t) { return text_or_none(t.subject.client()); },
          "The name of its program or sequence of launches, or None.")
      .def_readonly("steps", &RecordedTrace::steps, "The first is the initial state.")
      .def_property_readonly(
          "end", [](const RecordedTrace& t) { return text(trace_end_text(t)); },
          "What its last state shows: 'violated: ...', 'deadlock', 'ends with P1:r0=1;'.")
      .def("__len__", [](const RecordedTrace& t) { return t.steps.size(); })
      .def(
          "text", [](const RecordedTrace& t) { return text(trace_text(t)); },
          "Step by step: each rule, its unit, its place in the source, and what it changed.")
      .def(
          "save", [](const RecordedTrace& t, const fs::path& file) { write_trace(t, file.string()); },
          R"(Writes it to a file, which `lockstep replay` fires again. Raises BadInput where it cannot be
written.)",
          py::arg("file"))
      .def(
          "replay",
          [](const RecordedTrace& t) {
            return without_lock([&](const std::atomic<bool>&) { return replay(t); });
          },
          "Fires every step again, on the system as it is now.")
      .def("__repr__", [](const RecordedTrace& t) {
        return text("<lockstep.Trace of " + t.subject.description() + ", " + std::to_string(t.steps.size()) +
                    " steps: " + trace_end_text(t) + ">");
      });
  declared<Replay>(module, "Replay")
      .def_readonly("trace", &Replay::trace, "As it ran now, up to the last step that agreed.")
      .def_property_readonly(
          "difference", [](const Replay& r) { return text_or_none(r.difference); },
          "Why the system no longer does what the trace says; None where all agrees.")
      .def_property_readonly(
          "step",
          [](const Replay& r) -> std::optional<std::size_t> {
            if (r.difference.empty()) return std::nullopt;
            return r.different_step;
          },
          "The step at fault, or None.");
  module.def(
      "load_trace", [](const fs::path& file) { return read_trace(file.string()); },
      "A trace from a file. Raises BadInput where it is none.", py::arg("file"));
}

}  // namespace lockstep::python
