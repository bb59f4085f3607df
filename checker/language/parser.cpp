// Reads litmus tests: finds the dialect of a text and hands it to that dialect's reader.
#include <array>
#include <filesystem>
#include <fstream>

#include "checker/language/grammar.hpp"
#include "checker/support/diagnostic.hpp"
#include "spec/program/barriers.hpp"

namespace lockstep {

namespace litmus {
namespace {

// Takes the first word of a test.
class DialectReader : public TestReader {
 public:
  explicit DialectReader(const Source& source) : TestReader(source, Dialect::hrf) {}

  void found(const Word& word) {
    if (word.text == "ptx") {
      dialect = Dialect::ptx;
      return;
    }
    if (word.text == "Vulkan" || word.text == "vulkan") {
      dialect = Dialect::vulkan;
      return;
    }
    if (word.text == "RISC-V") {
      dialect = Dialect::riscv;
      return;
    }
    const std::string name = source_.one_of(word, "dialect", dialect_names());
    while (dialect_names()[static_cast<std::size_t>(dialect)] != name) {
      dialect = static_cast<Dialect>(static_cast<int>(dialect) + 1);
    }
  }

  Dialect dialect = Dialect::hrf;
};

}  // namespace

namespace grammar {
namespace {
struct first_word : dialect {};
struct beginning : seq<opt<peg::utf8::bom>, ws, must<first_word>> {};
}  // namespace
}  // namespace grammar

template <>
inline constexpr Expectation expectation<grammar::first_word> = expectation<grammar::dialect>;
template <>
struct Action<grammar::first_word> : Give<&DialectReader::found> {};

namespace {

Dialect dialect_of(const Source& source) {
  DialectReader reader(source);
  read<grammar::beginning>(source, reader);
  return reader.dialect;
}

}  // namespace
}  // namespace litmus

LitmusTest parse_litmus(std::string_view text, const std::string& file) {
  using litmus::Dialect;
  const litmus::Source source(text, file);
  source.check();
  const Dialect dialect = litmus::dialect_of(source);
  if (dialect == Dialect::launches) return read_launches(source);
  if (dialect >= Dialect::x86) return read_processors(source, dialect);
  const bool kernels = dialect == Dialect::opencl || dialect == Dialect::c;
  return kernels ? read_kernels(source, dialect) : read_columns(source, dialect);
}

LitmusTest read_litmus(const std::string& file) {
  const litmus::Source whole({}, file);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) whole.refuse("no such file");
  if (!std::filesystem::is_regular_file(status)) whole.refuse("not a regular file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) whole.refuse("the file cannot be opened");
  std::string text(litmus::largest_text + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) whole.refuse("the file cannot be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_litmus(text, file);
}

Program for_memory_systems(const LitmusTest& test) {
  return test.dialect == "HRF" ? test.program : with_known_barriers(test.program);
}

}  // namespace lockstep
