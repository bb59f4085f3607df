// A run that goes on step by step, without any reduction: what each rule did and in which unit, which rule's
// firing had enabled it, which messages it sent and took away, and what is enabled in the end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checker/explore/model.hpp"
#include "checker/runs/subject.hpp"
#include "checker/view/anatomy.hpp"

namespace lockstep::view {

using Fields = std::vector<std::pair<std::string, std::string>>;  // path and value

// In a channel from the row that pushed it to the row that took it away.
struct Message {
  std::string channel;  // "memory.link1(0)"
  Fields content;       // what is not at its default
  std::size_t sent = 0;
  std::optional<std::size_t> taken;
};

// One fired rule.
struct Row {
  Firing firing;
  NarratedStep narrated;
  std::string performer;  // "L1 1", "P0", "system"
  bool fair = true;
  std::optional<std::size_t> by;     // the row that enabled it; none: it was enabled when the run started
  std::vector<std::size_t> sent;     // messages
  std::optional<std::size_t> taken;  // the message that it took away
};

// An instance of a rule that is enabled where the run has got to.
struct Choice {
  Firing firing;
  NarratedStep narrated;
  std::string performer;
  bool fair = true;
};

class Walk {
 public:
  // Throws BadInput as Subject::build() does.
  explicit Walk(const Subject& subject);

  // Begins anew. False where there is no such initial state.
  bool start(std::size_t initial);
  // Fires a rule that is enabled.
  void take(const Firing& firing);
  // Fires the rule that was narrated so, or, of several of that text, the one with these effects. False, and
  // nothing is changed, where none is enabled.
  bool follow(const NarratedStep& narrated);
  // Fires threads' own moves while there are any.
  void settle();
  // Forgets all but the first rows.
  void back_to(std::size_t rows);

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] const Anatomy& anatomy() const { return anatomy_; }
  [[nodiscard]] const recorded::WholeDescription& description() const { return description_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<Message>& messages() const { return messages_; }
  // Packed, after the last row.
  [[nodiscard]] const std::vector<std::uint64_t>& state() const { return marks_.back().state; }
  [[nodiscard]] const std::vector<std::uint64_t>& state_after(std::size_t row) const {
    return marks_.at(row).state;
  }
  [[nodiscard]] Fields fields(std::size_t row) const;
  // Where the run has got to.
  [[nodiscard]] std::vector<Choice> choices() const;
  [[nodiscard]] bool is_own_move(const Firing& firing) const;
  [[nodiscard]] int violated() const { return marks_.back().violated; }  // an invariant's index, or -1
  [[nodiscard]] bool live() const { return marks_.back().live; }
  [[nodiscard]] const std::string& broken() const { return marks_.back().broken; }
  // All names that rows and choices may have, threads first.
  [[nodiscard]] std::vector<std::string> performers() const;

 private:
  // What is known after a row.
  struct Mark {
    std::vector<std::uint64_t> state;
    std::vector<Firing> enabled;
    std::vector<std::vector<std::uint64_t>> after;             // of each of these
    std::map<std::string, std::vector<std::size_t>> channels;  // messages, the head first
    std::size_t messages = 0;
    int violated = -1;
    bool live = false;
    std::string broken;
  };

  [[nodiscard]] std::string performer_of(const Firing& firing) const;
  void arrive(Mark mark, Row row);
  [[nodiscard]] std::optional<std::size_t> enabler(const Firing& firing) const;
  void pass_messages(const Fields& before, const Fields& after, const std::optional<std::string>& taken,
                     Mark& mark, Row& row);

  Subject subject_;
  std::unique_ptr<Model> model_;
  recorded::WholeDescription description_;
  Anatomy anatomy_;
  mutable Successors successors_;
  std::vector<Row> rows_;
  std::vector<Mark> marks_;  // by row
  std::vector<Message> messages_;
};

}  // namespace lockstep::view
