// libFuzzer target: any bytes are a model that judges a test, or a BadInput.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "checker/axiomatic/model.hpp"
#include "checker/support/diagnostic.hpp"

namespace {

using namespace lockstep;

const LitmusTest& message_passing() {
  static const LitmusTest test = parse_litmus(
      "HRF t\n{ x = 0; flag = 0; }\n"
      " P0@wg 0,agent 0          | P1@wg 1,agent 0           ;\n"
      " st x, 1                  | ld.acquire.agent r0, flag ;\n"
      " st.release.agent flag, 1 | ld r1, x                  ;\n"
      "exists (P1:r0 == 1 /\\ P1:r1 == 0)\n",
      "t.litmus");
  return test;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const AxiomaticModel model("fuzz.cat", std::string(reinterpret_cast<const char*>(data), size), {});
    JudgeOptions options;
    options.time = std::chrono::seconds(1);
    judge(message_passing(), model, options);
  } catch (const BadInput&) {
  }
  return 0;
}
