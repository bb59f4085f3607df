// libFuzzer target: any bytes are a litmus test or a BadInput, and what is printed is read back as the same
// program, condition and filter. Sequences of launches are only read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "checker/language/test.hpp"
#include "checker/support/diagnostic.hpp"

namespace {

using namespace lockstep;

std::optional<LitmusTest> parse(std::string_view text) {
  try {
    return parse_litmus(text, "fuzz.litmus");
  } catch (const BadInput&) {
    return std::nullopt;
  }
}

std::string printed(const LitmusTest& test) {
  return "HRF t\n" + print_claims(test.program) + print_program(test.program) + "filter " +
         print(test.filter, test.program) + "\nexists " + test.condition_text + "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<LitmusTest> test = parse({reinterpret_cast<const char*>(data), size});
  if (!test || test->launches != nullptr) return 0;
  const LitmusTest again = parse_litmus(printed(*test), "printed.litmus");
  if (!same_program(test->program, again.program)) std::abort();
  if (printed(again) != printed(*test)) std::abort();
  return 0;
}
