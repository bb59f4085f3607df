#include "checker/explore/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checker/support/diagnostic.hpp"
#include "checker/support/journal.hpp"
#include "checker/support/json_text.hpp"

namespace lockstep {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view schema = "lockstep.checkpoint/1";
constexpr std::array<const char*, 3> file_names{"states", "discoveries", "parts"};
constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

[[noreturn]] void refuse(const std::string& file, const std::string& message, const std::string& hint) {
  Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.message = message;
  diagnostic.hint = hint;
  throw BadInput(std::move(diagnostic));
}

[[noreturn]] void cannot_write(const std::string& file) {
  refuse(file, fmt::format("the checkpoint cannot be written: {}", std::strerror(errno)),
         "the last one is whole; make room, and go on with the same command");
}

[[noreturn]] void damaged(const std::string& file, const std::string& how) {
  refuse(file, "the checkpoint is damaged: " + how, "begin anew in another folder");
}

void write_all(int file, const void* data, std::size_t bytes, const std::string& name) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file, at, bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      cannot_write(name);
    }
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

}  // namespace

void replace_file(const std::string& name, const std::string& text) {
  const std::string fresh = name + ".new";
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) cannot_write(fresh);
  try {
    write_all(file, text.data(), text.size(), fresh);
    if (::fdatasync(file) != 0) cannot_write(fresh);
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
  if (std::rename(fresh.c_str(), name.c_str()) != 0) cannot_write(name);
  const std::string within = fs::path(name).parent_path().string();
  if (const int folder = ::open(within.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

FolderLock::FolderLock(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder, error))
    refuse(folder, "checkpoints are kept in a folder", "name one that can be made");
  const std::string lock = folder + "/lock";
  descriptor_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    refuse(folder, fmt::format("the folder cannot be written: {}", std::strerror(errno)), "name another");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    refuse(folder, "another process keeps its checkpoints there", "name another folder");
  }
}

FolderLock::~FolderLock() {
  ::close(descriptor_);
}

// A file that only grows.
struct Checkpoint::Grown {
  Grown(std::string file, std::uint64_t from) : name(std::move(file)), length(from) {
    descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) refuse(name, fmt::format("the file cannot be opened: {}", std::strerror(errno)), "");
    const off_t end = ::lseek(descriptor, 0, SEEK_END);
    if (end < 0 || static_cast<std::uint64_t>(end) < length)
      damaged(name, fmt::format("{} bytes are missing",
                                length - static_cast<std::uint64_t>(std::max<off_t>(end, 0))));
    if (::ftruncate(descriptor, static_cast<off_t>(length)) != 0) cannot_write(name);
    ::lseek(descriptor, static_cast<off_t>(length), SEEK_SET);
    XXH3_64bits_reset(&digest);
  }
  ~Grown() { ::close(descriptor); }
  Grown(const Grown&) = delete;
  Grown& operator=(const Grown&) = delete;

  void append(const void* data, std::size_t bytes) {
    write_all(descriptor, data, bytes, name);
    XXH3_64bits_update(&digest, data, bytes);
    length += bytes;
  }
  void force() const {
    if (::fdatasync(descriptor) != 0) cannot_write(name);
  }
  [[nodiscard]] std::string digest_text() const {
    return fmt::format("{:016x}", XXH3_64bits_digest(&digest));
  }

  std::string name;
  int descriptor = -1;
  std::uint64_t length = 0;
  std::string expected{};  // what it has to digest to
  alignas(64) XXH3_state_t digest{};
};

Checkpoint::Checkpoint(std::string folder, const std::string& about, const std::string& manifest)
    : folder_(std::move(folder)), about_(about), lock_(folder_) {
  if (manifest == usual_manifest && fs::exists(folder_ + "/cluster.json"))
    refuse(folder_, "the checkpoint is of several ranks",
           "go on with mpirun, or begin anew in another folder");
  read_position(manifest);
}

Checkpoint::~Checkpoint() = default;

void Checkpoint::read_position(const std::string& manifest) {
  const std::string name = folder_ + "/" + manifest;
  std::array<std::uint64_t, files> lengths{};
  std::array<std::string, files> digests;
  if (std::ifstream in(name, std::ios::binary); in) {
    std::stringstream text;
    text << in.rdbuf();
    const json kept = json::parse(text.str(), nullptr, false);
    if (!kept.is_object() || kept.value("schema", "") != schema || !kept.contains("about"))
      refuse(name, "this is no checkpoint", "begin anew in another folder");
    const std::string different = differences(json::parse(about_), kept["about"]);
    if (!different.empty())
      refuse(name, "the checkpoint is about another search: " + different,
             "name another folder, or go on with what began this one");
    try {
      for (std::size_t i = 0; i < files; ++i) {
        lengths.at(i) = kept.at("files").at(file_names.at(i)).at("bytes").get<std::uint64_t>();
        digests.at(i) = kept.at("files").at(file_names.at(i)).at("digest").get<std::string>();
      }
      const json& at = kept.at("search");
      position_.states = at.at("states").get<std::uint64_t>();
      position_.initial = at.at("initial").get<std::uint64_t>();
      position_.next = at.at("next").get<std::uint64_t>();
      position_.depth_end = at.at("depth_end").get<std::uint64_t>();
      position_.depth = at.at("depth").get<unsigned>();
      position_.transitions = at.at("transitions").get<std::uint64_t>();
      position_.fired = at.at("fired").get<std::vector<std::uint64_t>>();
      position_.seconds = at.at("seconds").get<double>();
    } catch (const json::exception& missing) {
      damaged(name, missing.what());
    }
    begun_ = true;
  }
  for (std::size_t i = 0; i < files; ++i) {
    grown_.at(i) = std::make_unique<Grown>(fmt::format("{}/{}", folder_, file_names.at(i)), lengths.at(i));
    grown_.at(i)->expected = digests.at(i);
  }
}

// ---- reading ----------------------------------------------------------------------------------------------

Checkpoint::Reader::Reader(Checkpoint& checkpoint, File file)
    : checkpoint_(checkpoint), grown_(checkpoint.grown(file)), left_(grown_.length) {
  ::lseek(grown_.descriptor, 0, SEEK_SET);
}

Checkpoint::Reader::~Reader() {
  ::lseek(grown_.descriptor, static_cast<off_t>(grown_.length), SEEK_SET);
}

void Checkpoint::Reader::fill() {
  buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(buffer_bytes, left_)));
  at_ = 0;
  std::size_t filled = 0;
  while (filled < buffer_.size()) {
    const ssize_t n = ::read(grown_.descriptor, buffer_.data() + filled, buffer_.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) damaged(grown_.name, "it cannot be read");
    filled += static_cast<std::size_t>(n);
  }
  left_ -= filled;
  XXH3_64bits_update(&grown_.digest, buffer_.data(), filled);
}

void Checkpoint::Reader::get(void* to, std::size_t bytes) {
  auto* out = static_cast<std::uint8_t*>(to);
  while (bytes > 0) {
    if (at_ == buffer_.size()) {
      if (left_ == 0) damaged(grown_.name, "it ends too early");
      fill();
    }
    const std::size_t n = std::min(bytes, buffer_.size() - at_);
    std::memcpy(out, buffer_.data() + at_, n);
    at_ += n;
    out += n;
    bytes -= n;
  }
}

bool Checkpoint::Reader::at_end() const {
  return at_ == buffer_.size() && left_ == 0;
}

void Checkpoint::Reader::finish() {
  if (!at_end()) damaged(grown_.name, "it goes on where it should end");
  if (grown_.digest_text() != grown_.expected) damaged(grown_.name, "it does not digest to what was written");
}

// A stretch of values of one node: the node, how many, the values.
void Checkpoint::read_parts(StateTree& tree) {
  parts_saved_.assign(tree.nodes(), 0);
  Reader parts(*this, File::parts);
  while (!parts.at_end()) {
    const auto node = parts.get<std::uint32_t>();
    const auto count = parts.get<std::uint32_t>();
    if (node < 2 || node >= tree.nodes()) damaged(grown(File::parts).name, "it has parts of no state");
    for (std::uint32_t i = 0; i < count; ++i) {
      if (tree.node(node).number_of(parts.get<std::uint64_t>()) != parts_saved_[node] + i)
        damaged(grown(File::parts).name, "it has a part twice");
    }
    parts_saved_[node] += count;
  }
  parts.finish();
}

void Checkpoint::read_discoveries(Discoveries& discoveries) {
  Reader reader(*this, File::discoveries);
  discoveries.load(position_.states, [&] { return reader.get<std::uint8_t>(); });
  reader.finish();
  discoveries_saved_ = discoveries.bytes();
}

// ---- writing ----------------------------------------------------------------------------------------------

void Checkpoint::write_keys() {
  grown(File::keys).append(keys_waiting_.data(), keys_waiting_.size() * sizeof(StateKey));
  keys_waiting_.clear();
}

void Checkpoint::save(const SearchPosition& position, const StateTree& tree, const Discoveries& discoveries) {
  discoveries.for_each_stretch(discoveries_saved_,
                               [&](const std::uint8_t* bytes, std::size_t n) { add_discoveries(bytes, n); });
  discoveries_saved_ = discoveries.bytes();
  save(position, tree, usual_manifest);
}

void Checkpoint::add_discoveries(const void* data, std::size_t bytes) {
  grown(File::discoveries).append(data, bytes);
}

void Checkpoint::save(const SearchPosition& position, const StateTree& tree, const std::string& manifest) {
  write_keys();
  parts_saved_.resize(tree.nodes());
  std::vector<std::uint64_t> values;
  for (std::uint32_t node = 2; node < tree.nodes(); ++node) {
    const std::uint32_t from = parts_saved_[node];
    const std::uint32_t count = tree.node(node).size() - from;
    if (count == 0) continue;
    const std::array<std::uint32_t, 2> head{node, count};
    values.clear();
    for (std::uint32_t i = 0; i < count; ++i) values.push_back(tree.node(node).value(from + i));
    grown(File::parts).append(head.data(), sizeof head);
    grown(File::parts).append(values.data(), values.size() * sizeof(std::uint64_t));
    parts_saved_[node] += count;
  }
  json out{{"schema", schema}, {"about", json::parse(about_)}};
  for (std::size_t i = 0; i < files; ++i) {
    grown_.at(i)->force();
    out["files"][file_names.at(i)] = {{"bytes", grown_.at(i)->length},
                                      {"digest", grown_.at(i)->digest_text()}};
  }
  out["search"] = {{"states", position.states}, {"initial", position.initial},
                   {"next", position.next},     {"depth_end", position.depth_end},
                   {"depth", position.depth},   {"transitions", position.transitions},
                   {"fired", position.fired},   {"seconds", position.seconds}};
  replace_file(folder_ + "/" + manifest, json_text(out) + "\n");
}

}  // namespace lockstep
