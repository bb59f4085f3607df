// The head, the initial state and the question of a litmus test, in whatever dialect.
#include "checker/language/test_reader.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "checker/support/diagnostic.hpp"
#include "spec/scheduler/setup.hpp"

namespace lockstep::litmus {
namespace {

constexpr std::int32_t some_address = 0x1000;  // any value that is not 0

std::string twice(const Word& word) {
  return in_quotes(word.text) + " is initialised twice";
}

std::string element_name(std::string_view array, int element) {
  return element == 0 ? std::string(array) : std::string(array) + "[" + std::to_string(element) + "]";
}

// "and": n-ary, and never directly below itself; the same for "or".
Formula joined(Formula::Kind kind, Formula left, Formula right) {
  Formula whole;
  if (left.kind == kind) {
    whole = std::move(left);
  } else {
    whole.kind = kind;
    whole.children.push_back(std::move(left));
  }
  if (right.kind == kind) {
    std::move(right.children.begin(), right.children.end(), std::back_inserter(whole.children));
  } else {
    whole.children.push_back(std::move(right));
  }
  return whole;
}

// Says whether it did.
bool insert_kernel_marks(Thread& thread) {
  if (thread.placement.kernel < 0) return false;
  for (Instruction& instruction : thread.code) {
    if (instruction.target >= 0) ++instruction.target;
  }
  Instruction mark;
  mark.opcode = Opcode::kernel_begin;
  thread.code.insert(thread.code.begin(), mark);
  mark.opcode = Opcode::kernel_end;
  thread.code.push_back(mark);
  return true;
}

// A thread's code begins one instruction later than it did.
void move_claims(Program& program, int thread) {
  for (Section& section : program.sections) {
    for (Stretch& stretch : section.stretches) {
      if (stretch.thread != thread) continue;
      ++stretch.begin;
      ++stretch.end;
    }
  }
  for (Rendezvous& meeting : program.meetings) {
    for (Rendezvous::Participant& p : meeting.participants) {
      if (p.thread != thread) continue;
      ++p.arrive;
      ++p.leave;
    }
  }
}

}  // namespace

const Names& dialect_names() {
  static const Names names{"HRF",    "PTX", "OPENCL", "C",       "LAUNCHES",
                           "VULKAN", "X86", "X86_64", "AArch64", "RISCV"};
  return names;
}

LitmusTest TestReader::take() {
  if (is_launches()) {
    launches_.name = test_.name;
    launches_.file = source_.file();
    launches_.text = source_.text();
    test_.launches = std::make_shared<const Launches>(std::move(launches_));
  }
  return std::move(test_);
}

// ---- The head of the test ----

void TestReader::head_word(const Word&) {
  if (may_have_no_name())
    test_.program.name = test_.name = std::filesystem::path(source_.file()).stem().string();
  test_.dialect = dialect_names()[static_cast<std::size_t>(dialect_)];
}

void TestReader::name(const Word& word) {
  test_.program.name = test_.name = word.text;
}

void TestReader::doc(const Word& word) {
  std::string text(word.text.substr(1, word.text.size() - 2));
  std::erase(text, '\r');
  if (!test_.doc.empty()) test_.doc += "\n";
  test_.doc += text;
  test_.program.doc = test_.doc;
}

void TestReader::key(const Word& word) {
  static const Names known{"Race", "Expect", "Progress", "Tags", "Section", "Meeting", "Final"};
  if (std::find(known.begin(), known.end(), word.text) == known.end()) {
    source_.fail(word.place, "unknown key " + in_quotes(word.text), suggestion(word.text, known));
  }
  if (is_loose() && word.text != "Tags") {
    source_.fail(word.place, in_quotes(word.text) + " belongs to tests in the HRF dialect",
                 "leave it out: tests of other dialects carry no expected verdicts");
  }
  if (is_launches() && word.text == "Race") {
    source_.fail(word.place, "a sequence of launches has no races to find",
                 "leave it out: kernels follow each other, and the labels say who writes what");
  }
  key_ = word.text;
}

void TestReader::entry_name(const Word& word) {
  entry_ = word;
  value_.reset();
}

void TestReader::end_entry() {
  if (key_ == "Race") return add_expected_race();
  if (key_ == "Expect") return add_expectation();
  if (key_ == "Progress") return add_expected_progress();
  if (value_) source_.fail(value_->place, "a tag has no value");
  test_.tags.emplace_back(entry_.text);
}

void TestReader::add_expected_race() {
  static const Names models{"drf", "hrf-direct", "hrf-indirect", "hrf-relaxed-direct",
                            "hrf-relaxed-indirect"};
  static const Names answers{"yes", "no"};
  const std::string model = source_.one_of(entry_, "model", models);
  const std::string answer = source_.one_of(value("yes or no"), "answer", answers);
  for (const ExpectedRace& other : test_.expected_races) {
    if (other.model == model) source_.fail(entry_.place, in_quotes(model) + " is listed twice");
  }
  test_.expected_races.push_back({model, answer == "yes", entry_.place});
}

void TestReader::add_expectation() {
  static const Names observations{"never", "sometimes", "always", "fails"};
  const std::string observation =
      source_.one_of(value("never, sometimes, always or fails"), "observation", observations);
  const auto index = std::find(observations.begin(), observations.end(), observation) - observations.begin();
  if (!systems_.insert({entry_.text, entry_.place}).second) {
    source_.fail(entry_.place, in_quotes(entry_.text) + " is listed twice");
  }
  test_.expected.push_back({std::string(entry_.text), static_cast<Observation>(index), entry_.place});
}

void TestReader::add_expected_progress() {
  static const Names verdicts{"terminates", "deadlock",   "trap",  "livelock",
                              "starvation", "progresses", "unsafe"};
  static const Names schedulers = [] {
    Names names;
    for (const NamedProgressModel& model : progress_models) names.emplace_back(model.name);
    for (const NamedWaitingPolicy& policy : waiting_policies) names.emplace_back(policy.name);
    return names;
  }();
  const std::string scheduler = source_.one_of(entry_, "scheduler", schedulers);
  const std::string verdict = source_.one_of(value("a verdict such as terminates"), "verdict", verdicts);
  for (const ExpectedProgress& other : test_.expected_progress) {
    if (other.scheduler == scheduler) source_.fail(entry_.place, in_quotes(scheduler) + " is listed twice");
  }
  test_.expected_progress.push_back({scheduler, verdict, entry_.place});
}

// ---- What the program claims ----

void TestReader::claim_name(const Word& word) {
  claims_.back().name = {word.text.substr(1, word.text.size() - 2), word.place};
}

void TestReader::claim_label(const Word& word, int which) {
  claims_.back().parts.back().labels.at(static_cast<std::size_t>(which)) = word;
}

std::string TestReader::new_claim_name(const WrittenClaim& claim, Names& known) const {
  std::string name(claim.name.text);
  std::erase(name, '\r');
  if (name.empty()) source_.fail(claim.name.place, "a claim needs words");
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    source_.fail(claim.name.place, in_quotes(name) + " is claimed twice");
  }
  known.push_back(name);
  return name;
}

void TestReader::resolve_claims(const std::function<int(std::size_t, const Word&)>& place_of) {
  Names known;
  for (const WrittenClaim& claim : claims_) {
    const std::string name = new_claim_name(claim, known);
    if (claim.kind == ClaimKind::section) {
      add_section(claim, name, place_of);
    } else if (claim.kind == ClaimKind::meeting) {
      add_meeting(claim, name, place_of);
    } else {
      reference_ = claim.location;
      if (reference_.thread) {
        source_.fail(reference_.thread->place, "expected a location, found a register",
                     "claims are of what is in memory in the end");
      }
      program().final_values.push_back({name, resolve_location().index, source_.constant(claim.number)});
    }
  }
}

void TestReader::add_section(const WrittenClaim& claim, std::string name,
                             const std::function<int(std::size_t, const Word&)>& place_of) {
  Section section{std::move(name), source_.constant(claim.number), {}};
  if (section.capacity < 0) source_.fail(claim.number.place, "a section holds 0 at least");
  for (const ClaimPart& part : claim.parts) {
    const std::size_t thread = thread_index(part.thread);
    Stretch stretch{static_cast<int>(thread), place_of(thread, part.labels[0]),
                    place_of(thread, part.labels[1]), part.weight ? source_.constant(*part.weight) : 1};
    if (stretch.begin >= stretch.end) {
      source_.fail(part.labels[1].place,
                   in_quotes(part.labels[1].text) + " is not behind " + in_quotes(part.labels[0].text));
    }
    if (stretch.weight < 1) source_.fail(part.weight->place, "a thread weighs 1 at least");
    section.stretches.push_back(stretch);
  }
  program().sections.push_back(std::move(section));
}

void TestReader::add_meeting(const WrittenClaim& claim, std::string name,
                             const std::function<int(std::size_t, const Word&)>& place_of) {
  Rendezvous meeting{std::move(name), {}};
  for (const ClaimPart& part : claim.parts) {
    const std::size_t thread = thread_index(part.thread);
    const Rendezvous::Participant participant{static_cast<int>(thread), place_of(thread, part.labels[0]),
                                              place_of(thread, part.labels[1])};
    if (participant.arrive > participant.leave) {
      source_.fail(part.labels[1].place,
                   in_quotes(part.labels[1].text) + " is not behind " + in_quotes(part.labels[0].text));
    }
    meeting.participants.push_back(participant);
  }
  program().meetings.push_back(std::move(meeting));
}

const Word& TestReader::value(const std::string& expected) const {
  if (value_) return *value_;
  source_.fail(entry_.place, in_quotes(entry_.text) + " needs a value: " + expected);
}

// ---- The initial state ----

void TestReader::register_name(const Word& word) {
  reference_.name = word;
  if (word.text.starts_with('%')) reference_.name.text.remove_prefix(1);
  reference_.bracketed = word.text.starts_with('%');
  if (!is_processor()) return;
  reference_.name.text = register_of_processor(dialect_, reference_.name.text);
  reference_.bracketed = true;
  if (!reference_.name.text.empty()) return;
  source_.fail(word.place, test_.dialect + " has no register " + in_quotes(word.text));
}

void TestReader::bracketed_name(const Word& word) {
  reference_.name = word;
  reference_.bracketed = true;
}

void TestReader::begin_initialisation() {
  region_ = Region::global;
  plain_ = false;
  pointer_.reset();
  address_.reset();
  initial_values_.clear();
}

void TestReader::type_word(const Word& word) {
  static const Names known{"int", "local", "plain"};
  if (is_loose()) return;  // what a location holds is said by the parameters that name it
  const std::string type = source_.one_of(word, "type", known);
  if (type == "local") region_ = Region::local;
  if (type == "plain") plain_ = true;
}

void TestReader::alias_sign(const Word& word) {
  if (is_kernels() || is_launches()) {
    source_.fail(word.place, "another name for a location belongs to tests in PTX and Vulkan");
  }
  alias_sign_ = word;
  alias_proxy_.reset();
}

void TestReader::alias_target(const Word& word, bool bracketed) {
  alias_target_ = {word, bracketed};
}

void TestReader::end_alias() {
  static const Names known{"generic", "surface", "texture", "constant"};
  const Word& name = reference_.name;
  if (reference_.thread || reference_.element) {
    source_.fail(name.place, "only a location is another name for a location");
  }
  if (is_ptx() && !alias_proxy_) {
    source_.fail(
        alias_sign_.place, "expected '@' and a proxy, found 'aliases'",
        "write it " + std::string(name.text) + " @ generic aliases " + std::string(alias_target_.first.text));
  }
  if (is_vulkan() && alias_proxy_) {
    source_.fail(alias_proxy_->place, "proxies belong to PTX",
                 "write it " + std::string(name.text) + " aliases " + std::string(alias_target_.first.text));
  }
  const bool generic = !alias_proxy_ || source_.one_of(*alias_proxy_, "proxy", known) == "generic";
  if (name.text == alias_target_.first.text) {
    source_.fail(name.place, in_quotes(name.text) + " is another name for itself");
  }
  if (find_location(name.text)) {
    source_.fail(name.place, in_quotes(name.text) + " has memory already",
                 "another name for a location is given before it is used, and once");
  }
  const std::size_t target = location(alias_target_.first, alias_target_.second);
  if (program().locations[target].array > 1 ||
      program().locations[target].name.find('[') != std::string::npos) {
    source_.fail(alias_target_.first.place, "an array has no other name");
  }
  const std::size_t alias = location(name, reference_.bracketed);
  initialised_.resize(program().locations.size(), false);
  initialised_[alias] = true;
  const Location& of = program().locations[target];
  Location& fresh = program().locations[alias];
  fresh.memory = of.memory >= 0 ? of.memory : static_cast<int>(target);
  if (!generic) fresh.address = of.address >= 0 ? of.address : static_cast<int>(target);
  fresh.initial_value = program().locations[static_cast<std::size_t>(fresh.memory)].initial_value;
}

void TestReader::check_ssw(const Word& brace) const {
  if (is_vulkan() || is_strict()) return;
  source_.fail(brace.place, "a second pair of braces belongs to tests in Vulkan",
               "there it says which threads are ordered from outside: { ssw 0 1; }");
}

void TestReader::resolve_ssw() {
  for (std::size_t i = 0; i + 1 < ssw_.size(); i += 2) {
    const std::size_t first = thread_index(ssw_[i]);
    const std::size_t second = thread_index(ssw_[i + 1]);
    if (first == second) source_.fail(ssw_[i + 1].place, "a thread is not ordered before itself");
    program().system_synchronizes.emplace_back(static_cast<int>(first), static_cast<int>(second));
  }
}

void TestReader::end_initialisation() {
  if (pointer_) {
    source_.fail(pointer_->place, "pointers in memory are not supported",
                 "locations hold integers of 32 bits");
  }
  if (!reference_.thread) return initialise_location();
  InitialRegister initial;
  initial.reference = reference_;
  initial.address = address_;
  if (!initial_values_.empty()) initial.value = initial_values_.front();
  if (reference_.element || initial_values_.size() > 1) {
    source_.fail(reference_.name.place, "a register holds one value, and is no array");
  }
  initial_registers_.push_back(initial);
}

void TestReader::initialise_location() {
  if (address_) {
    source_.fail(address_->place, "pointers in memory are not supported",
                 "locations hold integers of 32 bits");
  }
  const std::size_t known = program().locations.size();
  const std::size_t first = location(reference_.name, reference_.bracketed);
  initialised_.resize(program().locations.size(), false);
  if (initialised_[first] && !is_same_again(first))
    source_.fail(reference_.name.place, twice(reference_.name));
  const int size = reference_.element ? source_.constant(*reference_.element) : 1;
  if (size < 1) source_.fail(reference_.element->place, "an array has one element at least");
  if (static_cast<std::size_t>(size) < initial_values_.size()) {
    source_.fail(reference_.name.place, count_of(initial_values_.size(), "initial value") + " for " +
                                            count_of(static_cast<std::size_t>(size), "element"));
  }
  if (size > 1 && first < known) {
    source_.fail(reference_.name.place,
                 in_quotes(reference_.name.text) + " is already a location of one word");
  }
  if (static_cast<std::size_t>(size) > Capacity::locations) {
    source_.fail(reference_.element->place,
                 "a test has at most " + count_of(Capacity::locations, "location"));
  }
  for (int i = 0; i < size; ++i) {
    const std::string name = element_name(reference_.name.text, i);
    const std::size_t index = i == 0 ? first : location({name, reference_.name.place}, true);
    initialised_.resize(program().locations.size(), false);
    initialised_[index] = true;
    Location& element = program().locations[index];
    element.region = region_;
    element.atomic = !plain_;
    const auto value = static_cast<std::size_t>(i);
    element.initial_value = value < initial_values_.size() ? initial_values_[value] : 0;
  }
  program().locations[first].array = size;
}

// People's tests say some things twice. That is no mistake where it is the same.
bool TestReader::is_same_again(std::size_t location) const {
  const std::int32_t value = initial_values_.empty() ? 0 : initial_values_.front();
  return is_loose() && !reference_.element && program().locations[location].initial_value == value;
}

void TestReader::block_member(const Word& word, bool bracketed) {
  const std::size_t index = location(word, bracketed);
  const auto listed = [&](const Names& block) {
    const std::string& name = test_.program.locations[index].name;
    return std::find(block.begin(), block.end(), name) != block.end();
  };
  if (listed(block_) || std::any_of(blocks_.begin(), blocks_.end(), listed)) {
    source_.fail(word.place, in_quotes(word.text) + " is already in a block");
  }
  if (block_.size() == Capacity::words_per_block) {
    source_.fail(word.place, "a block has at most " + count_of(Capacity::words_per_block, "word"));
  }
  block_.push_back(test_.program.locations[index].name);
}

// ---- Threads, locations and registers ----

Thread& TestReader::add_thread(const Word& word) {
  const std::size_t number = program().threads.size();
  if (number == Capacity::threads) {
    source_.fail(word.place, "a test has at most " + count_of(Capacity::threads, "thread"));
  }
  const std::string expected = "P" + std::to_string(number);
  if (word.text != expected) {
    source_.fail(word.place, "expected thread " + expected + ", found " + in_quotes(word.text),
                 "threads are named P0, P1, ... " +
                     std::string(is_kernels() ? "from first to last" : "from left to right"));
  }
  Thread& thread = program().threads.emplace_back();
  thread.name = expected;
  thread.placement.wave = static_cast<int>(number);
  thread.placement.wg = static_cast<int>(number);
  return thread;
}

std::optional<std::size_t> TestReader::find_location(std::string_view name) const {
  const std::vector<Location>& locations = program().locations;
  const auto found =
      std::find_if(locations.begin(), locations.end(), [&](const Location& l) { return l.name == name; });
  if (found == locations.end()) return std::nullopt;
  return static_cast<std::size_t>(found - locations.begin());
}

std::size_t TestReader::location(const Word& word, bool bracketed) {
  if (!bracketed && !is_kernels() && !is_processor() && is_register_name(word.text)) {
    source_.fail(word.place, "expected a location, found register " + in_quotes(word.text),
                 "a register's initial value names its thread, as in P0:" + std::string(word.text) + " = 1");
  }
  if (const auto known = find_location(word.text)) return *known;
  std::vector<Location>& locations = program().locations;
  if (locations.size() == Capacity::locations) {
    source_.fail(word.place, "a test has at most " + count_of(Capacity::locations, "location"));
  }
  locations.push_back({.name = std::string(word.text)});
  return locations.size() - 1;
}

std::optional<std::size_t> TestReader::find_register(const Thread& thread, std::string_view name) {
  const auto found = std::find(thread.registers.begin(), thread.registers.end(), name);
  if (found == thread.registers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - thread.registers.begin());
}

std::size_t TestReader::register_of(Thread& thread, const Word& word) const {
  if (const auto known = find_register(thread, word.text)) return *known;
  if (thread.registers.size() == Capacity::registers) {
    source_.fail(word.place, "a thread has at most " + count_of(Capacity::registers, "register"));
  }
  thread.registers.emplace_back(word.text);
  thread.initial_values.push_back(0);
  return thread.registers.size() - 1;
}

std::optional<std::size_t> TestReader::find_thread(const Word& word) const {
  const std::string name = (word.text.starts_with('P') ? "" : "P") + std::string(word.text);
  for (std::size_t i = 0; i < program().threads.size(); ++i) {
    if (program().threads[i].name == name) return i;
  }
  return std::nullopt;
}

std::size_t TestReader::thread_index(const Word& word) const {
  if (const auto known = find_thread(word)) return *known;
  fail_thread(word);
}

void TestReader::fail_thread(const Word& word) const {
  Names names;
  for (const Thread& thread : program().threads) names.push_back(thread.name);
  source_.fail(word.place, "unknown thread " + in_quotes(word.text), "one of: " + list(names));
}

void TestReader::initialise_register(std::size_t index, const InitialRegister& initial) {
  const Word& name = initial.reference.name;
  if (!is_kernels() && !initial.reference.bracketed) check_register_name(name);
  std::pair<std::size_t, std::string> which{index, std::string(name.text)};
  if (std::find(registers_initialised_.begin(), registers_initialised_.end(), which) !=
      registers_initialised_.end()) {
    const auto known = find_register(program().threads[index], name.text);
    const bool same =
        known && !initial.address && program().threads[index].initial_values[*known] == initial.value;
    if (is_loose() && same) return;
    source_.fail(name.place, twice(name));
  }
  registers_initialised_.push_back(which);
  if (initial.address) {
    addresses_.emplace_back(std::move(which), *initial.address);
    location(*initial.address, true);
    return;
  }
  Thread& thread = program().threads[index];
  const std::size_t known = register_of(thread, name);
  thread.initial_values[known] = initial.value;
}

bool TestReader::holds_address(std::size_t thread, std::string_view name) const {
  return !is_kernels() && address_in(thread, name) != nullptr;
}

const Word* TestReader::address_in(std::size_t thread, std::string_view name) const {
  for (const auto& [which, address] : addresses_) {
    if (which.first == thread && which.second == name) return &address;
  }
  return nullptr;
}

void TestReader::check_register_name(const Word& word) const {
  if (is_register_name(word.text)) return;
  source_.fail(word.place, "expected a register, found " + in_quotes(word.text),
               "registers are named r0, r1, ...");
}

void TestReader::finish_program() {
  resolve_ssw();
  // An alias may stand before the initial value of what it names.
  for (Location& location : program().locations) {
    if (location.memory < 0) continue;
    location.initial_value = program().locations[static_cast<std::size_t>(location.memory)].initial_value;
  }
  for (std::size_t t = 0; t < program().threads.size(); ++t) {
    if (insert_kernel_marks(program().threads[t])) move_claims(program(), static_cast<int>(t));
  }
  number_blocks();
}

// Gives each location its block, in order of first appearance, and its word, in order of its block's list.
void TestReader::number_blocks() {
  std::vector<int> numbers(blocks_.size(), -1);
  int next = 0;
  for (Location& location : program().locations) {
    location.block = -1;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto word = std::find(blocks_[i].begin(), blocks_[i].end(), location.name);
      if (word == blocks_[i].end()) continue;
      if (numbers[i] < 0) numbers[i] = next++;
      location.block = numbers[i];
      location.word = static_cast<int>(word - blocks_[i].begin());
    }
    if (location.block < 0) location.block = next++;
  }
}

// ---- The question ----

void TestReader::misspelled_question(const Word& word) const {
  static const Names known{"exists", "~exists", "forall", "filter", "locations"};
  source_.fail(word.place, "unknown question " + in_quotes(word.text), suggestion(word.text, known));
}

void TestReader::reference_term() {
  terms_.push_back(resolve());
  note_observed(terms_.back());
}

void TestReader::constant_term(const Word& word) {
  terms_.push_back({ConditionTerm::Kind::constant, source_.constant(word), -1, -1});
}

void TestReader::comparison(const Word& word) {
  comparison_ = Comparison::equal;
  for (const Comparison known : all_comparisons) {
    if (dialect_word(known) == word.text) comparison_ = known;
  }
}

void TestReader::end_comparison() {
  Formula formula;
  formula.kind = Formula::Kind::compare;
  formula.comparison = comparison_;
  formula.left = terms_.front();
  formula.right = terms_.back();
  terms_.clear();
  formulas_.push_back(std::move(formula));
}

void TestReader::truth(bool value) {
  formulas_.emplace_back();
  formulas_.back().truth = value;
}

void TestReader::negate() {
  Formula formula;
  formula.kind = Formula::Kind::not_;
  formula.children.push_back(pop_formula());
  formulas_.push_back(std::move(formula));
}

void TestReader::join(Formula::Kind kind) {
  Formula right = pop_formula();
  Formula left = pop_formula();
  formulas_.push_back(joined(kind, std::move(left), std::move(right)));
}

void TestReader::end_filter() {
  Formula filter = pop_formula();
  if (has_filter_) filter = joined(Formula::Kind::and_, std::move(test_.filter), std::move(filter));
  test_.filter = std::move(filter);
  has_filter_ = true;
}

void TestReader::end_condition() {
  test_.condition = pop_formula();
  test_.condition_text = print(test_.condition, test_.program);
}

// As herd has it: a test without a question asks whether all outcomes are outcomes.
void TestReader::no_condition() {
  test_.quantifier = Quantifier::forall;
  truth(true);
  end_condition();
}

Formula TestReader::pop_formula() {
  Formula formula = std::move(formulas_.back());
  formulas_.pop_back();
  return formula;
}

// The register or location that the last reference names.
ConditionTerm TestReader::resolve() {
  return reference_.thread ? resolve_register() : resolve_location();
}

ConditionTerm TestReader::resolve_register() {
  const std::size_t index = thread_index(*reference_.thread);
  if (holds_address(index, reference_.name.text)) {
    source_.fail(reference_.name.place,
                 in_quotes(reference_.name.text) + " holds an address, which no question can be about",
                 "ask for a location, or for a register that holds a value");
  }
  Thread& thread = program().threads[index];
  auto known = find_register(thread, reference_.name.text);
  // PTX, Vulkan and processors declare no registers, and one that no instruction names is 0.
  if (!known && (((is_ptx() || is_vulkan()) && is_register_name(reference_.name.text)) || is_processor())) {
    known = register_of(thread, reference_.name);
  }
  const std::pair<std::size_t, std::string> pointer{index, std::string(reference_.name.text)};
  if (!known && std::find(pointers_.begin(), pointers_.end(), pointer) != pointers_.end()) {
    known = register_of(thread, reference_.name);
    thread.initial_values[*known] = some_address;
  }
  if (!known) {
    source_.fail(reference_.name.place, thread.name + " has no register " + in_quotes(reference_.name.text),
                 suggestion(reference_.name.text, thread.registers));
  }
  return {ConditionTerm::Kind::register_, 0, static_cast<int>(index), static_cast<int>(*known)};
}

ConditionTerm TestReader::resolve_location() const {
  const Word& word = reference_.name;
  if (!is_kernels() && !is_processor() && !reference_.bracketed && is_register_name(word.text)) {
    source_.fail(word.place, "register " + in_quotes(word.text) + " of which thread?",
                 "name it: P0:" + std::string(word.text));
  }
  const int element = reference_.element ? source_.constant(*reference_.element) : 0;
  const std::string name = element_name(word.text, element);
  if (const auto known = find_location(name)) {
    const int memory = test_.program.locations[*known].memory;
    return {ConditionTerm::Kind::location, 0, -1, memory >= 0 ? memory : static_cast<int>(*known)};
  }
  Names names;
  for (const Location& location : program().locations) names.push_back(location.name);
  source_.fail(word.place, "unknown location " + in_quotes(name), suggestion(name, names));
}

void TestReader::note_observed(const ConditionTerm& term) {
  const auto same = [&](const ConditionTerm& other) {
    return term.kind == other.kind && term.thread == other.thread && term.index == other.index;
  };
  if (std::none_of(test_.observed.begin(), test_.observed.end(), same)) test_.observed.push_back(term);
}

}  // namespace lockstep::litmus
