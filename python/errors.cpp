// Exceptions of ours as exceptions of Python's.
#include "checker/explore/model.hpp"
#include "checker/support/diagnostic.hpp"
#include "python/objects.hpp"

namespace lockstep::python {

namespace {

// Made once, and kept as long as the process: exceptions may be thrown until its end.
py::handle bad_input;

void raise_bad_input(const BadInput& bad) {
  const Diagnostic& diagnostic = bad.diagnostic();
  const auto number_or_none = [](int number) {
    return number > 0 ? py::object(py::int_(number)) : py::none();
  };
  const py::object error = bad_input(text(bad.what()));
  error.attr("message") = text(diagnostic.message);
  error.attr("file") = text_or_none(diagnostic.file);
  error.attr("line") = number_or_none(diagnostic.place.line);
  error.attr("column") = number_or_none(diagnostic.place.column);
  error.attr("hint") = text_or_none(diagnostic.hint);
  PyErr_SetObject(bad_input.ptr(), error.ptr());
}

}  // namespace

void add_errors(py::module_& module) {
  py::exception<BadInput> type(module, "BadInput", PyExc_ValueError);
  type.attr("__doc__") =
      R"(Something that was given cannot be used: a name, a number, a file, what a file says.

str() is the whole message, with the place, the line of the source and the remedy. Attributes:
message: what is wrong, in a line. file: as it was named, or None. line, column: from 1, or None.
hint: the remedy, such as the nearest name, or None.)";
  bad_input = type.release();
  py::register_local_exception<BrokenRule>(module, "BrokenRule", PyExc_RuntimeError).attr("__doc__") =
      "In a state, a rule does what its types do not allow, such as pushing into a full queue.";
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const BadInput& bad) {
      raise_bad_input(bad);
    }
  });
}

}  // namespace lockstep::python
