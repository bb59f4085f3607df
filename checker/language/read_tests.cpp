// Finds litmus files and reads them; one that cannot be read costs none of the others.
#include "checker/language/read_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

// Every .litmus file in and below a folder, in order of path.
std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".litmus") found.push_back(it->path().generic_string());
  }
  if (error) throw BadInput(Diagnostic{folder.string(), {}, "cannot be read: " + error.message(), {}, {}});
  std::sort(found.begin(), found.end());
  return found;
}

class Reader {
 public:
  Reader(const std::string& home, Clients clients_below) : home_(home), clients_(clients_below) {}

  void read(const std::string& path) {
    try {
      std::error_code error;
      if (fs::is_directory(path, error)) {
        read_folder(path);
      } else if (fs::exists(path, error)) {
        read_file(path, Clients::include);
      } else {
        read_file(named(path), Clients::include);
      }
    } catch (const BadInput& bad) {
      result.errors.emplace_back(bad.what());
    }
  }

  // The file of the test that bears this name.
  [[nodiscard]] std::string named(const std::string& name) const {
    std::error_code error;
    std::vector<std::string> names;
    if (name.find('/') == std::string::npos && fs::is_directory(home_, error)) {
      for (const std::string& file : files_below(home_)) {
        names.push_back(fs::path(file).stem().string());
        if (names.back() == name || names.back() + ".litmus" == name) return file;
      }
    }
    const std::string near = nearest(name, names);
    throw BadInput(Diagnostic{name,
                              {},
                              names.empty() ? "no such file or folder" : "no such file, folder or test",
                              near.empty() ? "" : fmt::format("did you mean '{}'?", near),
                              {}});
  }

  SuiteFiles result;

 private:
  void read_folder(const std::string& folder) {
    const std::vector<std::string> files = files_below(folder);
    if (files.empty()) throw BadInput(Diagnostic{folder, {}, "holds no .litmus file", {}, {}});
    const auto read = [&] { return result.tests.size() + result.launches.size() + result.errors.size(); };
    const std::size_t before = read();
    for (const std::string& file : files) read_file(file, clients_);
    if (read() == before && !seen_before_) {
      throw BadInput(Diagnostic{folder,
                                {},
                                "holds only clients, which never end",
                                "explore them with `lockstep check SYSTEM --program FILE`, or name the files",
                                {}});
    }
  }

  void read_file(const std::string& file, Clients clients) {
    std::error_code error;
    if (!seen_.insert(fs::weakly_canonical(file, error).string()).second) {
      seen_before_ = true;
      return;
    }
    try {
      auto test = std::make_shared<const LitmusTest>(read_litmus(file));
      if (clients == Clients::leave_out && has_tag(*test, "client")) return;
      (test->launches != nullptr ? result.launches : result.tests).push_back(std::move(test));
    } catch (const BadInput& bad) {
      result.errors.emplace_back(bad.what());
    }
  }

  const std::string& home_;
  Clients clients_;  // in folders; a file that is named is wanted
  std::set<std::string> seen_;
  bool seen_before_ = false;
};

}  // namespace

void refuse_launches(const SuiteFiles& files, const std::string& why) {
  if (files.tests.empty() && !files.launches.empty()) refuse_launches(*files.launches.front(), why);
}

void refuse_launches(const LitmusTest& test, const std::string& why) {
  if (test.launches == nullptr) return;
  throw BadInput(Diagnostic{test.file,
                            {},
                            "is a sequence of launches: " + why,
                            "`lockstep litmus` runs it on systems whose client launches kernels",
                            {}});
}

SuiteFiles read_tests(std::span<const std::string> paths, const std::string& home, Clients clients) {
  Reader reader(home, clients);
  for (const std::string& path : paths) reader.read(path);
  return std::move(reader.result);
}

std::shared_ptr<const LitmusTest> read_any_test(const std::string& name, const std::string& home) {
  std::error_code error;
  if (fs::is_directory(name, error))
    throw BadInput(Diagnostic{name, {}, "is a folder", "name one test of it", {}});
  const Reader reader(home, Clients::include);
  return std::make_shared<const LitmusTest>(read_litmus(fs::exists(name, error) ? name : reader.named(name)));
}

std::shared_ptr<const LitmusTest> read_test(const std::string& name, const std::string& home,
                                            const std::string& why) {
  auto test = read_any_test(name, home);
  refuse_launches(*test, why);
  return test;
}

}  // namespace lockstep
