// What Lockstep says, as values of Python: texts, outcomes, JSON, and frames of pandas, which is imported
// where one is asked for.
#pragma once

#include <pybind11/pybind11.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explore/model.hpp"
#include "checker/language/condition.hpp"
#include "checker/language/test.hpp"

namespace lockstep::python {

namespace py = pybind11;

// What is not UTF-8, in a file of somebody's, is replaced.
py::str text(std::string_view text);
py::list texts(const std::vector<std::string>& all);
// None where there is none.
py::object text_or_none(std::string_view text);

// A field's value by how it is printed: "true" is a bool, "3" an int, everything else ("idle", "none") a str.
py::object field_value(const std::string& printed);

// By the names of the test's observed terms ("P1:r0", "[x]"), in their order. Values are numbers, or words
// where they have some ("dirty").
std::vector<std::string> term_names(const LitmusTest& test);
py::object term_value(const LitmusTest& test, std::size_t term, std::int32_t value);
py::dict outcome_dict(const LitmusTest& test, const Outcome& outcome);

// How often each rule fired, by name in the order of the rules: rules of one name together.
py::dict fired_by_name(const std::vector<RuleDescription>& rules, const std::vector<std::uint64_t>& fired);
// The same as a frame, a row a rule: name, unit, source, fair, fired.
py::object fired_frame(const std::vector<RuleDescription>& rules, const std::vector<std::uint64_t>& fired);

// pandas.DataFrame of rows, each a tuple. Throws ImportError where pandas is missing.
py::object frame(const std::vector<std::string>& columns, const py::list& rows);
// A column's values: None where `name` is not in a row.
py::object frame_of_dicts(const py::list& rows);

py::object from_json(const nlohmann::json& json);
py::object from_json(const nlohmann::ordered_json& json);

// Pairs of a name and what it is, as lists of Lockstep have them.
template <class Range>
py::dict named(const Range& range) {
  py::dict all;
  for (const auto& one : range) all[text(one.name)] = text(one.what);
  return all;
}

}  // namespace lockstep::python
