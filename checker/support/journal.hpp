// A journal of finished work: a header that says what it is about, then one line for each finished part, each
// written whole and at once. A run that is cut off loses at most what was being worked on.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// What the header of a run disagrees on with one that was kept, for people: "build: it has 'a', this run
// 'b'".
std::string differences(const nlohmann::json& here, const nlohmann::json& there);

class Journal {
 public:
  // Opens or begins the file of a command. Every line after an equal header is handed to `take`. Throws
  // BadInput where the file cannot be read or written, is no journal, is about something else, or is damaged
  // in another place than its last line, which may have been cut off.
  Journal(const std::string& file, std::string_view command, const nlohmann::json& header,
          const std::function<void(const nlohmann::json&)>& take);
  void append(const nlohmann::json& line);
  // Hands on what others' journals have. Throws BadInput also where there is no such file.
  static void read_all(const std::vector<std::string>& files, std::string_view command,
                       const nlohmann::json& header, const std::function<void(const nlohmann::json&)>& take);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace lockstep
