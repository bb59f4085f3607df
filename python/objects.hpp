// The objects that parts of the module hand to each other, and what each part adds to the module.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/runs/subject.hpp"
#include "python/calls.hpp"
#include "python/values.hpp"

namespace lockstep::python {

struct Test {
  std::shared_ptr<const LitmusTest> test;
};

// With what was chosen of it; without a program.
struct System {
  Subject subject;
};

// "quick-release/split-fifo", or one that was made with lockstep.system.
using SystemArgument = std::variant<System, std::string>;
// variant=, faults= and sizes=, besides what the system has. Throws BadInput with the nearest name.
using Sizes = std::map<std::string, int>;
Subject subject_of(const SystemArgument& system, const std::string& variant = {},
                   const std::vector<std::string>& faults = {}, const Sizes& sizes = {});

// A test by name, by file, or one that there is already.
using TestArgument = std::variant<Test, std::filesystem::path>;
Test test_of(const TestArgument& test);

// Throws the bad input that ended a run, which has a status instead, or else its message.
template <class RunOfSome>
void raise_error_of(const RunOfSome& run) {
  if (run.bad_input) throw BadInput(*run.bad_input);
  throw std::runtime_error(run.message);
}

// A class that has been declared: all are before any of their methods, so that the signatures in docstrings
// know the names of all.
template <class... Class>
py::class_<Class...> declared(const py::module_& module, const char* name) {
  return py::reinterpret_borrow<py::class_<Class...>>(module.attr(name));
}

void add_errors(py::module_& module);
void declare_tests(py::module_& module);
void declare_systems(py::module_& module);
void declare_traces(py::module_& module);
void declare_simulation(py::module_& module);
void define_tests(py::module_& module);
void define_systems(py::module_& module);
void define_traces(py::module_& module);
void define_simulation(py::module_& module);

}  // namespace lockstep::python
