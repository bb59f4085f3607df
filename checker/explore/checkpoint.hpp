// A search that outlives its process: a folder that holds what has been found, and a file that says how much
// of it counts.
//
// Three files only grow: the keys of states in the order in which they were found, how each was found, and
// the values of their parts (state_tree.hpp). Now and then what has been written is forced to the disk, and
// `checkpoint.json`, which says how long each file is and what it digests to, is put in the place of the one
// before. Whatever is written after that is cut off by who goes on from it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "checker/explore/discoveries.hpp"
#include "checker/explore/state_tree.hpp"

namespace lockstep {

// How far a search has come: all states below `next` have been expanded.
struct SearchPosition {
  std::uint64_t states = 0;
  std::uint64_t initial = 0;  // the first so many are those that runs start from
  std::uint64_t next = 0;
  std::uint64_t depth_end = 0;  // the first state of the next depth
  unsigned depth = 0;
  std::uint64_t transitions = 0;
  std::vector<std::uint64_t> fired;  // by rule
  double seconds = 0;
};

// Forces a whole file to the disk in the place of the one before. Throws BadInput where that cannot be.
void replace_file(const std::string& name, const std::string& text);

// A folder, made where there is none, that no other process uses as long as this lives. Throws BadInput.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

class Checkpoint {
 public:
  static constexpr const char* usual_manifest = "checkpoint.json";

  // Opens the folder, or makes it. `about` is a JSON object that says what is searched, by whom: only an
  // equal one goes on. Throws BadInput where the folder cannot be used, is used by another process, is about
  // something else, or is damaged.
  // `manifest`: the file that says how much counts.
  Checkpoint(std::string folder, const std::string& about, const std::string& manifest = usual_manifest);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // Whether there is something to go on from. What is read is held against its digest; throws BadInput where
  // it differs.
  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] const SearchPosition& position() const { return position_; }
  void read_parts(StateTree& tree);
  void read_discoveries(Discoveries& discoveries);
  // Of a search that keeps 64 bits on how each state was found: calls f(bits) for each.
  template <class F>
  void for_each_origin(F&& f) {
    Reader origins(*this, File::discoveries);
    for (std::uint64_t left = position_.states; left > 0; --left) f(origins.get<std::uint64_t>());
    origins.finish();
  }
  // Calls f(key) for the key of each state.
  template <class F>
  void for_each_key(F&& f) {
    Reader keys(*this, File::keys);
    for (std::uint64_t left = position_.states; left > 0; --left) f(keys.get<StateKey>());
    keys.finish();
  }

  // Of the next state. Throws BadInput where the disk is full.
  void add(StateKey key) {
    if (keys_waiting_.size() == most_waiting) write_keys();
    keys_waiting_.push_back(key);
  }
  void save(const SearchPosition& position, const StateTree& tree, const Discoveries& discoveries);
  // For who keeps something else on how states were found: adds it, of those behind the last it was told of.
  void add_discoveries(const void* data, std::size_t bytes);
  void save(const SearchPosition& position, const StateTree& tree, const std::string& manifest);

 private:
  enum class File : std::uint8_t { keys, discoveries, parts };
  static constexpr std::size_t files = 3;
  static constexpr std::size_t most_waiting = std::size_t{1} << 13;
  struct Grown;

  // Hands out a file's contents one after the other, and digests them.
  class Reader {
   public:
    Reader(Checkpoint& checkpoint, File file);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    template <class T>
    T get() {
      T value{};
      get(&value, sizeof value);
      return value;
    }
    void get(void* to, std::size_t bytes);
    [[nodiscard]] bool at_end() const;
    // Everything has been handed out.
    void finish();

   private:
    void fill();
    Checkpoint& checkpoint_;
    Grown& grown_;
    std::vector<std::uint8_t> buffer_;
    std::size_t at_ = 0;
    std::uint64_t left_ = 0;  // in the file, behind the buffer
  };

  [[nodiscard]] Grown& grown(File file) { return *grown_[static_cast<std::size_t>(file)]; }
  void write_keys();
  void read_position(const std::string& manifest);

  std::string folder_;
  std::string about_;
  FolderLock lock_;
  bool begun_ = false;
  SearchPosition position_;
  std::array<std::unique_ptr<Grown>, files> grown_;
  std::vector<StateKey> keys_waiting_;
  std::vector<std::uint32_t> parts_saved_;  // by node of the tree
  std::uint64_t discoveries_saved_ = 0;     // bytes
};

}  // namespace lockstep
