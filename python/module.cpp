// The module lockstep._lockstep, which python/package/__init__.py makes the package `lockstep` of. It
// converts, calls and converts back; it decides nothing.
#include "checker/support/home.hpp"
#include "checker/support/registration.hpp"
#include "python/objects.hpp"

PYBIND11_MODULE(_lockstep, module) {
  using namespace lockstep::python;
  // People know its classes and functions by the package.
  const py::object name = module.attr("__name__");
  module.attr("__name__") = "lockstep";
  add_calls();
  add_errors(module);
  for (const auto declare : {declare_traces, declare_tests, declare_systems, declare_simulation})
    declare(module);
  for (const auto define : {define_traces, define_tests, define_systems, define_simulation}) define(module);
  module.def(
      "home", [] { return lockstep::shipped("litmus").parent_path(); },
      R"(The folder of what comes with Lockstep: litmus, spec/models, refimpl/machines. The variable
LOCKSTEP_HOME says where else it is looked for first.)");
  module.attr("__version__") = lockstep::headers_version;
  module.attr("__name__") = name;
}
