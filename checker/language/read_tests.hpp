// Finds the tests that a user names, by file, folder or name, and reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/language/test.hpp"

namespace lockstep {

using LitmusTests = std::vector<std::shared_ptr<const LitmusTest>>;

struct SuiteFiles {
  LitmusTests tests;                // programs
  LitmusTests launches;             // sequences of launches, which other systems take
  std::vector<std::string> errors;  // complete messages about what could not be read
};

// A client is a program that never ends, hence has no outcomes: its claims are assertions. Tagged `client`.
enum class Clients : std::uint8_t { leave_out, include };

// Files as they are named; folders stand for every .litmus file in and below them, in order of path, with or
// without the clients; the bare name of a test stands for its file below `home`. Each file once.
SuiteFiles read_tests(std::span<const std::string> paths, const std::string& home,
                      Clients clients = Clients::leave_out);

// The one test that is named, by file or by the bare name of one below `home`. Throws BadInput where there is
// none, and where it cannot be read, with the place.
std::shared_ptr<const LitmusTest> read_any_test(const std::string& name, const std::string& home);
// The same of a program. Throws BadInput for a sequence of launches, with `why` those are not taken.
std::shared_ptr<const LitmusTest> read_test(const std::string& name, const std::string& home,
                                            const std::string& why);

bool has_tag(const LitmusTest& test, std::string_view tag);

// For what takes programs alone: throws BadInput where a sequence of launches was named.
void refuse_launches(const SuiteFiles& files, const std::string& why);
void refuse_launches(const LitmusTest& test, const std::string& why);

}  // namespace lockstep
