#include "checker/support/journal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"

namespace lockstep {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& file, int line, const std::string& message,
                         const std::string& hint) {
  Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.place.line = line;
  diagnostic.message = message;
  diagnostic.hint = hint;
  throw BadInput(std::move(diagnostic));
}

}  // namespace

std::string differences(const json& here, const json& there) {
  std::string text;
  for (const auto& [key, value] : here.items()) {
    if (there.contains(key) && there[key] == value) continue;
    const auto told = [](const json& v) { return v.is_string() ? v.get<std::string>() : json_text(v); };
    text += fmt::format("{}{}: it has '{}', this run '{}'", text.empty() ? "" : "; ", key,
                        there.contains(key) ? told(there[key]) : "nothing", told(value));
  }
  return text;
}

Journal::Journal(const std::string& file, std::string_view command, const json& header,
                 const std::function<void(const json&)>& take)
    : name_(file) {
  const std::string schema = fmt::format("lockstep.{}.journal/1", command);
  const auto no_journal = [&] {
    refuse(file, 1, fmt::format("this is no journal of `lockstep {}`", command),
           "name a new file to begin one");
  };
  json head = header;
  head["schema"] = schema;
  std::error_code error;
  if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error))
    refuse(file, 0, "a journal is a file", "name a new file to begin one");
  const bool begun = std::filesystem::exists(file, error) && std::filesystem::file_size(file, error) > 0;
  std::uintmax_t whole = 0;  // bytes up to the end of the last whole line
  if (begun) {
    std::ifstream in(file, std::ios::binary);
    if (!in) refuse(file, 0, "the journal cannot be read", "");
    std::stringstream buffer;
    buffer << in.rdbuf();
    const std::string text = buffer.str();
    std::size_t at = 0;
    for (int number = 1; at < text.size(); ++number) {
      const std::size_t end = text.find('\n', at);
      if (end == std::string::npos) break;  // cut off while it was written
      const json line = json::parse(text.substr(at, end - at), nullptr, false);
      if (number == 1) {
        if (!line.is_object() || line.value("schema", "") != schema) no_journal();
        const std::string different = differences(head, line);
        if (!different.empty()) {
          refuse(file, 1, "the journal is about another run: " + different,
                 "name a new file, or resume with what began this one");
        }
      } else {
        if (!line.is_object())
          refuse(file, number, "the journal is damaged", "name a new file to begin again");
        try {
          take(line);
        } catch (const std::exception& bad) {
          refuse(file, number, fmt::format("the journal is damaged: {}", bad.what()),
                 "name a new file to begin again");
        }
      }
      at = end + 1;
      whole = at;
    }
    if (whole == 0) no_journal();
    std::filesystem::resize_file(file, whole, error);
    if (error) refuse(file, 0, "the journal cannot be written: " + error.message(), "");
  }
  file_.reset(std::fopen(file.c_str(), "ab"));
  if (!file_) refuse(file, 0, "the journal cannot be written", "is there such a folder?");
  if (!begun) append(head);
}

void Journal::append(const json& line) {
  const std::string text = json_text(line) + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  if (!written || std::fflush(file_.get()) != 0)
    refuse(name_, 0, "the journal cannot be written", "is the disk full?");
}

void Journal::read_all(const std::vector<std::string>& files, std::string_view command, const json& header,
                       const std::function<void(const json&)>& take) {
  for (const std::string& file : files) {
    if (!std::filesystem::exists(file)) throw BadInput(fmt::format("there is no journal '{}'", file));
    const Journal read(file, command, header, take);
  }
}

}  // namespace lockstep
