// How the parts of a system put themselves on lists before main begins, and what a list refuses: a name that
// two headers claim, and a part that was compiled against the headers of another version of Lockstep.
#pragma once

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace lockstep {

// The version of these headers, read by the build, too. Of internal linkage, so that every translation unit
// brings the one that it was compiled with.
static constexpr const char* headers_version = "0.1.0";

// Who registers something. This struct stays what it is from version to version: a list looks at `version`
// first.
struct Origin {
  const char* version = nullptr;
  std::string_view system;
  std::string_view file;  // the header, or the file of proofs
  int place = 0;          // among the systems, where people read of them
};
template <class Info>
Origin origin(std::string_view file) {
  return {headers_version, Info::name, file, Info::place};
}

// Throws BadInput where one is of another version, or two are of one system; they are sorted.
void check_origins(const std::vector<Origin>& origins);

// A list that is filled before main begins, in no order that a program may rely on.
template <class Value>
class Registrations {
 public:
  void add(const Origin& origin, Value value) { all_.emplace_back(origin, std::move(value)); }
  // In the order in which people should read them, each with its system's name. Throws as check_origins does.
  [[nodiscard]] std::vector<std::pair<std::string_view, Value>> in_order() const {
    auto sorted = all_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first.place, a.first.system, a.first.file) <
             std::tie(b.first.place, b.first.system, b.first.file);
    });
    std::vector<Origin> origins;
    for (const auto& one : sorted) origins.push_back(one.first);
    check_origins(origins);
    std::vector<std::pair<std::string_view, Value>> list;
    for (const auto& [origin, value] : sorted) list.emplace_back(origin.system, value);
    return list;
  }

 private:
  std::vector<std::pair<Origin, Value>> all_;
};

}  // namespace lockstep
