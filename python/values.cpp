// To Python's values.
#include "python/values.hpp"

#include <pybind11/stl.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace lockstep::python {

py::str text(std::string_view text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

py::list texts(const std::vector<std::string>& all) {
  py::list list;
  for (const std::string& one : all) list.append(text(one));
  return list;
}

py::object text_or_none(std::string_view text) {
  if (text.empty()) return py::none();
  return python::text(text);
}

py::object field_value(const std::string& printed) {
  if (printed == "true" || printed == "false") return py::bool_(printed == "true");
  std::int64_t number = 0;
  const char* const end = printed.data() + printed.size();
  const auto read = std::from_chars(printed.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end) return py::int_(number);
  return text(printed);
}

std::vector<std::string> term_names(const LitmusTest& test) {
  std::vector<std::string> names;
  for (const ConditionTerm& term : test.observed) names.push_back(print(term, test.program));
  return names;
}

py::object term_value(const LitmusTest& test, std::size_t term, std::int32_t value) {
  if (const auto word = value_word(test, term, value)) return text(*word);
  return py::int_(value);
}

py::dict outcome_dict(const LitmusTest& test, const Outcome& outcome) {
  py::dict values;
  const std::vector<std::string> names = term_names(test);
  for (std::size_t i = 0; i < names.size(); ++i) values[text(names[i])] = term_value(test, i, outcome[i]);
  return values;
}

py::dict fired_by_name(const std::vector<RuleDescription>& rules, const std::vector<std::uint64_t>& fired) {
  py::dict counts;
  for (std::size_t i = 0; i < rules.size() && i < fired.size(); ++i) {
    const py::str name = text(rules[i].name);
    const py::int_ before = counts.contains(name) ? py::int_(counts[name]) : py::int_(0);
    counts[name] = before + py::int_(fired[i]);
  }
  return counts;
}

py::object fired_frame(const std::vector<RuleDescription>& rules, const std::vector<std::uint64_t>& fired) {
  py::list rows;
  for (std::size_t i = 0; i < rules.size() && i < fired.size(); ++i) {
    const RuleDescription& rule = rules[i];
    rows.append(py::make_tuple(text(rule.name), text(rule.unit), text(rule.source),
                               rule.fairness == Fairness::fair, fired[i]));
  }
  return frame({"rule", "unit", "source", "fair", "fired"}, rows);
}

namespace {

py::module_ pandas() {
  try {
    return py::module_::import("pandas");
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ModuleNotFoundError)) throw;
    py::raise_from(error, PyExc_ImportError, "frames need pandas: apt-get install python3-pandas");
    throw py::error_already_set();
  }
}

}  // namespace

py::object frame(const std::vector<std::string>& columns, const py::list& rows) {
  return pandas().attr("DataFrame")(rows, py::arg("columns") = texts(columns));
}

py::object frame_of_dicts(const py::list& rows) {
  return pandas().attr("DataFrame")(rows);
}

namespace {

template <class Json>
py::object value_of(const Json& json) {
  using Type = nlohmann::detail::value_t;
  switch (json.type()) {
    case Type::boolean:
      return py::bool_(json.template get<bool>());
    case Type::number_integer:
      return py::int_(json.template get<std::int64_t>());
    case Type::number_unsigned:
      return py::int_(json.template get<std::uint64_t>());
    case Type::number_float:
      return py::float_(json.template get<double>());
    case Type::string:
      return text(json.template get_ref<const std::string&>());
    case Type::array: {
      py::list list;
      for (const Json& one : json) list.append(value_of(one));
      return list;
    }
    case Type::object: {
      py::dict dict;
      for (const auto& [key, value] : json.items()) dict[text(key)] = value_of(value);
      return dict;
    }
    default:
      return py::none();
  }
}

}  // namespace

py::object from_json(const nlohmann::json& json) {
  return value_of(json);
}
py::object from_json(const nlohmann::ordered_json& json) {
  return value_of(json);
}

}  // namespace lockstep::python
