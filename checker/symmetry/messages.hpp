// Fields of messages that mean nothing in messages of some kinds: the thread of a write that is on its way.
//
// There they hold the first member of their index type, which is not meant. It stays what it is when members
// are renamed; so it has to be seen that nobody looks at it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "spec/kernel/recorded.hpp"

namespace lockstep::symmetry {

// Of the messages of a queue, or of a table of them: those whose `kind` is one of `kinds` do not mean
// `field`.
struct NotMeant {
  std::string queue;  // names that lead to it: "memory.link1"
  std::string field;  // within a message, as pushes name it: "thread"
  std::string kind;   // an enumeration, likewise
  std::set<std::string> kinds;
};

// Those that no rule and no claim looks at: with its kind known to be such a one, the field is nowhere in
// what is left of a tree.
std::vector<NotMeant> fields_not_meant(const recorded::WholeDescription& whole);

// Whether a value that is pushed is one that nobody set: the first member of an index type.
bool is_left(const recorded::Expression& value);

// "memory.link1" of memory.link1(cu): the names of a path, without indices.
std::string names_of(const recorded::Path& path);

}  // namespace lockstep::symmetry
