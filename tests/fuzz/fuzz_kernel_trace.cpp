// libFuzzer target: any bytes are a kernel's trace, or a BadInput.
#include <cstddef>
#include <cstdint>
#include <string>

#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"
#include "refimpl/workloads/kernel_trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const TemporaryFolder folder;
  static const std::string file = (folder.path() / "kernel-1.traceg").string();
  write_file(file, std::string(reinterpret_cast<const char*>(data), size));
  WorkloadShape shape;
  shape.accesses_per_wave = 2;
  try {
    static_cast<void>(kernel_trace(file).build(shape));
  } catch (const BadInput&) {
  }
  return 0;
}
