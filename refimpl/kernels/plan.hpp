// A file of kernels at chosen sizes: its arrays with their data, its kernels' code, and what is launched.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checker/language/kernel_file.hpp"
#include "refimpl/kernels/code_source.hpp"
#include "refimpl/kernels/lane_wave.hpp"
#include "refimpl/kernels/races.hpp"

namespace lockstep::kernels {

struct Array {
  ArrayName name;
  bool checked = true;                // its final contents are compared
  std::vector<std::int32_t> initial;  // none of a local one
  std::int32_t offset = 0;            // of a local one, in a work-group's memory
  int first_location = 0;             // of the program
};

struct Launch {
  int kernel = 0;
  std::int32_t items = 0;
  std::int32_t group_size = 0;
  std::vector<std::int32_t> arguments;
  int waves_per_group = 1;
  int groups = 1;
  // Of which so many are there at once; each place takes one group after the other.
  int places = 1;
};

struct Plan {
  std::shared_ptr<const KernelFile> file;
  std::vector<Array> arrays;
  std::vector<LaneCode> kernels;
  std::vector<Launch> launches;
  std::int32_t local_words = 0;  // of a work-group

  [[noreturn]] void fail(SourcePlace place, const std::string& message, const std::string& hint = {}) const {
    file->source().fail(place, message, hint);
  }
  // Where an element is: words behind the array's first, and its place there.
  [[nodiscard]] int word_of(const Array& array, std::int32_t element) const {
    return array.name.padded ? element : element / lanes_of_word;
  }
  [[nodiscard]] int words(const Array& array) const {
    return array.name.padded ? array.name.size : (array.name.size + lanes_of_word - 1) / lanes_of_word;
  }
  // Throws BadInput where an active lane names no element.
  void check_elements(const LaneWave& wave, const Step& step, Mask active) const;
};

// `graphs`: files in place of those that are made, by name. Throws BadInput with the place of what does not
// work.
Plan plan_of(std::shared_ptr<const KernelFile> file, const std::map<std::string, int>& sizes,
             const std::map<std::string, std::string>& graphs, std::uint64_t seed);

// Lets a place's wave begin a group of its launch.
void begin_group(const Plan& plan, const Launch& launch, int group, int wave_of_group, LaneWave& wave);

// What an instruction of lanes that go one after the other makes of an element, whose old value is returned.
std::int32_t apply(const Step& step, std::int32_t& element, std::int32_t b, std::int32_t c);
// What a step makes of an array whose elements lie there, lane by lane.
void access_elements(std::int32_t* elements, LaneWave& wave, const Step& step, Mask active);

struct FlatRun {
  std::vector<std::vector<std::int32_t>> contents;  // of arrays, in the end
  std::optional<Race> race;
  int raced = 0;        // the launch that has it
  bool watched = true;  // none of the launches was too large to be watched for races
};
// What comes of it when all waves of a launch go on in turn and each access is performed at once. Throws
// BadInput where it does not end after so many steps of all waves together. Interrupted, it has come so far.
FlatRun final_contents(const Plan& plan, std::uint64_t most_steps,
                       const std::atomic<bool>* interrupted = nullptr);

}  // namespace lockstep::kernels
