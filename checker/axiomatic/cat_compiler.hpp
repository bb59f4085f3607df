// From cat to a plan.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/axiomatic/plan.hpp"

namespace lockstep::cat {

// A model's files: its own, and those it includes, found in its own folder and then along a path.
struct Source {
  std::shared_ptr<const File> file;
  std::vector<std::string> path;
};

// Reads a model by name (a file of spec/models without its suffix) or by path. Throws BadInput.
Source read_model(const std::string& name_or_path, const std::vector<std::string>& include_path = {});

// The text of all that a model is read from, one file after the other. Throws as read_model does.
std::string whole_text(const Source& source);

// The folders of what comes with Lockstep, last on every path.
void add_library_path(Source& source);

// The models that come with Lockstep.
std::vector<std::string> model_names();
// What the model of that name is: the quoted words of its title. Throws as read_model does.
std::string model_title(const std::string& name);

// What a model that looks into sets needs to know of the events before it can be compiled.
class Structure {
 public:
  virtual ~Structure() = default;
  [[nodiscard]] virtual int events() const = 0;
  [[nodiscard]] virtual int words() const = 0;  // of a row of bits
  // The rows of a node that no choice changes.
  virtual std::vector<std::uint64_t> rows(const Plan& plan, int node) = 0;
};

// A model takes sets of events apart: it is compiled anew for the events of each execution.
class NeedsStructure : public std::exception {};

// Throws BadInput with the place of the first error, NeedsStructure where `structure` is null and matters.
Plan compile(const Source& source, Structure* structure = nullptr);

}  // namespace lockstep::cat
