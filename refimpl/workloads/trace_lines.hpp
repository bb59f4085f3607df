// What readers of traces have in common: the lines of their files, and where what is accessed lies.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "refimpl/workloads/builder.hpp"

namespace lockstep {

// The lines of a file, one after the other, without their ends.
class TraceLines {
 public:
  explicit TraceLines(std::string file) : file_(std::move(file)) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(file_, none)) fail("no such file");
    if (file_.ends_with(".xz")) {
      std::string quoted;
      for (const char c : file_) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      stream_ = popen(("xz -dc -- '" + quoted + "' 2>/dev/null").c_str(), "r");
      is_pipe_ = true;
    } else {
      stream_ = std::fopen(file_.c_str(), "r");
    }
    if (stream_ == nullptr) fail(std::strerror(errno));
  }
  ~TraceLines() {
    if (stream_ != nullptr) close();
  }
  TraceLines(const TraceLines&) = delete;
  TraceLines& operator=(const TraceLines&) = delete;

  // The next line that is not empty; false at the end of the file.
  bool next() {
    while (read()) {
      if (text_.find_first_not_of(" \t") != std::string::npos) return true;
    }
    return false;
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string_view trimmed() const {
    const std::string_view all = text_;
    const auto first = all.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return all.substr(first, all.find_last_not_of(" \t") + 1 - first);
  }
  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    throw BadInput(Diagnostic{
        file_, {number_, 0}, std::move(message), std::move(hint), number_ > 0 ? text_.substr(0, 120) : ""});
  }
  [[noreturn]] void truncated(const std::string& what) const {
    fail("the file ends " + what, "it is truncated: trace or unpack it again");
  }

 private:
  static constexpr std::size_t longest_line = 1 << 16;

  bool read() {
    text_.clear();
    int c = std::fgetc(stream_);
    if (c == EOF) {
      if (std::ferror(stream_) != 0) fail("cannot be read");
      const int status = close();
      if (is_pipe_ && status != 0) {
        const bool missing = WIFEXITED(status) && WEXITSTATUS(status) == 127;
        fail(missing ? "there is no program xz to unpack it with" : "xz cannot unpack it",
             missing ? "install xz-utils" : "is it damaged?");
      }
      return false;
    }
    ++number_;
    for (; c != EOF && c != '\n'; c = std::fgetc(stream_)) {
      if (c == 0) fail("not a text file: it has a NUL byte");
      if (text_.size() == longest_line) fail("a line is too long for a trace");
      if (c != '\r') text_ += static_cast<char>(c);
    }
    return true;
  }
  int close() {
    std::FILE* const open = std::exchange(stream_, nullptr);
    return is_pipe_ ? pclose(open) : std::fclose(open);
  }

  std::string file_;
  std::FILE* stream_ = nullptr;
  bool is_pipe_ = false;
  int number_ = 0;
  std::string text_;
};

// Where the words of a trace lie. Pages are put behind one another as they are touched first; within a page
// everything is where the trace has it, so that sets, banks and channels are shared as they were.
class TraceMemory {
 public:
  TraceMemory(WorkloadBuilder& build, int words_per_block)
      : build_(build), per_block_(static_cast<std::uint64_t>(words_per_block)) {}

  int location(std::uint64_t word) {
    const auto [found, fresh] = locations_.try_emplace(word, 0);
    if (fresh) {
      constexpr std::uint64_t words_of_page = (std::uint64_t{1} << 21) / sizeof(Lanes);
      const std::uint64_t page = pages_.try_emplace(word / words_of_page, pages_.size()).first->second;
      const std::uint64_t block = (page * words_of_page + word % words_of_page) / per_block_;
      found->second = build_.word(fmt::format("{:#x}", word * sizeof(Lanes)), static_cast<int>(block),
                                  static_cast<int>(word % per_block_));
    }
    return found->second;
  }

 private:
  WorkloadBuilder& build_;
  std::uint64_t per_block_;
  std::unordered_map<std::uint64_t, int> locations_;
  std::unordered_map<std::uint64_t, std::uint64_t> pages_;
};

}  // namespace lockstep
