#include "checker/explore/disk_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

// What keys are told apart and sorted by.
std::uint64_t rank_of(StateKey key) {
  return NumberedValues::hash_of(key);
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void failed(const std::string& name) {
  Diagnostic diagnostic;
  diagnostic.file = name;
  diagnostic.message = fmt::format("states cannot be kept on disk: {}", std::strerror(errno));
  diagnostic.hint = "make room, and go on with the same command";
  throw BadInput(std::move(diagnostic));
}

File opened(const std::string& name, const char* mode) {
  File file(std::fopen(name.c_str(), mode));
  if (!file) failed(name);
  return file;
}

// Ranks in a file, one after the other, or a good many at a time.
class Ranks {
 public:
  Ranks(const std::string& name, std::uint64_t count) : name_(name), left_(count) {
    if (count > 0) file_ = opened(name, "rb");
    next();
  }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] std::uint64_t rank() const { return rank_; }
  void next() {
    if (at_ == buffer_.size()) {
      buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left_, most)));
      at_ = 0;
      left_ -= buffer_.size();
      done_ = buffer_.empty();
      if (done_) return;
      if (std::fread(buffer_.data(), sizeof(std::uint64_t), buffer_.size(), file_.get()) != buffer_.size())
        failed(name_);
    }
    rank_ = buffer_[at_++];
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 16;
  std::string name_;
  File file_;
  std::uint64_t left_;
  std::vector<std::uint64_t> buffer_;
  std::size_t at_ = 0;
  std::uint64_t rank_ = 0;
  bool done_ = false;
};

void write(std::FILE* file, const std::vector<std::uint64_t>& ranks, const std::string& name) {
  if (std::fwrite(ranks.data(), sizeof(std::uint64_t), ranks.size(), file) != ranks.size()) failed(name);
}

}  // namespace

DiskSet::DiskSet(std::string folder) : folder_(std::move(folder)), sizes_(shares, 0) {
  for (std::size_t share = 0; share < shares; ++share) {
    for (const char* const end : {"", ".more", ".new"}) fs::remove(file_of(share, end));
  }
}

DiskSet::~DiskSet() {
  std::error_code ignored;
  for (std::size_t share = 0; share < shares; ++share) {
    for (const char* const end : {"", ".more", ".new"}) fs::remove(file_of(share, end), ignored);
  }
}

std::string DiskSet::file_of(std::size_t share, const char* end) const {
  return fmt::format("{}/visited-{}{}", folder_, share, end);
}

void DiskSet::add(const KeySet& keys) {
  std::array<std::vector<std::uint64_t>, shares> ranks;
  for (std::size_t shard = 0; shard < keys.shards(); ++shard) {
    for (auto& of_share : ranks) of_share.clear();
    keys.for_each(shard, [&](StateKey key) {
      const std::uint64_t rank = rank_of(key);
      ranks[rank >> (64 - share_bits)].push_back(rank);
    });
    for (std::size_t share = 0; share < shares; ++share) {
      const std::string name = file_of(share, ".more");
      const File more = opened(name, "ab");
      write(more.get(), ranks[share], name);
      if (std::fflush(more.get()) != 0) failed(name);
    }
  }
  for (std::size_t share = 0; share < shares; ++share) merge(share);
}

// What is to be added lies beside a share's file, in any order.
void DiskSet::merge(std::size_t share) {
  const std::string more_name = file_of(share, ".more");
  const std::string name = file_of(share, ".new");
  std::vector<std::uint64_t> more(fs::file_size(more_name) / sizeof(std::uint64_t));
  {
    const File file = opened(more_name, "rb");
    if (std::fread(more.data(), sizeof(std::uint64_t), more.size(), file.get()) != more.size())
      failed(more_name);
  }
  std::sort(more.begin(), more.end());
  const File merged = opened(name, "wb");
  std::vector<std::uint64_t> out;
  std::uint64_t size = 0;
  const auto put = [&](std::uint64_t rank) {
    constexpr std::size_t most = std::size_t{1} << 16;
    out.push_back(rank);
    ++size;
    if (out.size() < most) return;
    write(merged.get(), out, name);
    out.clear();
  };
  auto at = more.begin();
  for (Ranks old(file_of(share), sizes_[share]); !old.done(); old.next()) {
    for (; at != more.end() && *at < old.rank(); ++at) put(*at);
    if (at != more.end() && *at == old.rank()) ++at;
    put(old.rank());
  }
  for (; at != more.end(); ++at) put(*at);
  write(merged.get(), out, name);
  if (std::fflush(merged.get()) != 0) failed(name);
  std::error_code error;
  fs::rename(name, file_of(share), error);
  if (error) failed(name);
  sizes_[share] = size;
  fs::remove(more_name, error);
}

std::vector<bool> DiskSet::holds(const std::vector<StateKey>& keys) const {
  std::vector<std::pair<std::uint64_t, std::size_t>> asked;
  asked.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) asked.emplace_back(rank_of(keys[i]), i);
  std::sort(asked.begin(), asked.end());
  std::vector<bool> found(keys.size(), false);
  auto at = asked.begin();
  for (std::size_t share = 0; share < shares && at != asked.end(); ++share) {
    for (Ranks kept(file_of(share), sizes_[share]); !kept.done() && at != asked.end(); kept.next()) {
      while (at != asked.end() && at->first < kept.rank()) ++at;
      for (; at != asked.end() && at->first == kept.rank(); ++at) found[at->second] = true;
    }
    while (at != asked.end() && at->first >> (64 - share_bits) == share) ++at;
  }
  return found;
}

std::uint64_t DiskSet::size() const {
  std::uint64_t all = 0;
  for (const std::uint64_t size : sizes_) all += size;
  return all;
}

}  // namespace lockstep
