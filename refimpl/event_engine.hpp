// The discrete-event engine. Every change of protocol state is the firing of a rule of spec/, whose guard has
// been evaluated just before; the engine decides when, never what. It knows no protocol: which unit performs
// a rule is said by the rule, how long that takes by the machine file. Hence it is compiled once; what a
// protocol adds is in engine.hpp.
//
// A rule with its parameters is an instance. An instance that is found disabled is parked on the rows that
// its guard's value rests on (reads.hpp) and looked at again when one of them has been written. One that is
// found enabled is due after the rule's latency, and then waits for a turn of its unit; when the turn comes
// its guard is evaluated again, and either it fires or it is parked. Instances over blocks are too many to be
// listed: such a rule has to be disabled on rows that are absent, and its instances are looked at when their
// rows are written.
//
// Replacements are optional rules. The machine file names the one that makes room in each cache; when a
// firing has filled a set beyond its ways, the engine fires it for the first victim, in the policy's order,
// for which it is enabled, and the unit stalls while there is none.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_set.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/systems/registry.hpp"
#include "refimpl/accesses.hpp"
#include "refimpl/main_memory.hpp"
#include "refimpl/network.hpp"
#include "refimpl/profile.hpp"
#include "refimpl/simulator.hpp"
#include "refimpl/timed.hpp"
#include "refimpl/wheel.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/program/port.hpp"

namespace lockstep {

class EventEngine : public Simulator, private timed::Weigher, private timed::Carrier {
 public:
  SimulationEnd run(const std::atomic<bool>* interrupted, std::uint64_t limit) override;
  [[nodiscard]] Statistics statistics() const override;
  [[nodiscard]] std::string waiting_threads() const override;
  [[nodiscard]] std::vector<std::string> overlooked() override;

  [[nodiscard]] std::uint64_t firings() const { return firings_; }
  // Called after every firing, replacements included.
  std::function<void()> on_firing;

 protected:
  using RuleOf = RuleValue<timed::Erased>;
  using Bool = timed::Bool;
  using Tick = timed::Tick;
  using Key = timed::Key;

  static constexpr std::uint16_t first_case = 60;  // rules of a thread's instruction, above those of memory

  struct Parameters {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
  };
  // Who sits where, by thread or by CU.
  struct Seats {
    std::vector<std::uint32_t> cu_of;  // of a host thread 0, and its work-group likewise
    std::vector<std::uint32_t> work_group_of;
    std::vector<std::uint32_t> agent_of;  // by CU
    std::vector<char> is_host;
  };
  // What a thread does at its port.
  struct ThreadStatus {
    bool ended = false;
    bool failed = false;  // an assertion
    bool pending = false;
    Operation operation = Operation::load;
    bool is_atomic = false;
  };
  // What came of firing a rule of a thread's instruction.
  struct CaseFired {
    bool fired = false;
    bool exists = true;  // the instruction has such a rule
  };

  // Throws BadInput on options and machines that do not fit the system or the workload.
  EventEngine(const Workload& workload, const MachineDescription& machine, const SimulationOptions& options,
              const SystemEntry& system);

  // ---- what a protocol adds ------------------------------------------------------------------------------

  // Where a thread is in its code, and what it does there.
  [[nodiscard]] virtual std::size_t place_of(std::uint32_t thread) const = 0;
  [[nodiscard]] virtual ThreadStatus status_of(std::uint32_t thread) const = 0;
  // The block that a thread's request names.
  [[nodiscard]] virtual std::uint32_t block_of(std::uint32_t thread) const = 0;
  // Judges those rules of a thread's instruction that the mask names, where the thread is. Returns one more
  // than the last of all rules that the instruction has.
  virtual std::uint16_t consider_cases(Parameters at, std::uint64_t mask) = 0;
  // Fires one of them if its guard holds.
  virtual CaseFired fire_case(Parameters at, std::uint16_t rule) = 0;
  // Whether all that was under way in memory has come to its end.
  [[nodiscard]] virtual bool drained() const = 0;

  // ---- for setting up, in this order ---------------------------------------------------------------------

  // For systems whose releases order only what their own thread has done: throws BadInput where the program
  // needs more.
  void refuse_releases_for_others() const;
  // Throws BadInput: threads here wait for what the system's do not wait for.
  [[noreturn]] void refuse_outstanding() const;
  // Throws BadInput where the machine file says where blocks are at home: the system's blocks are nowhere.
  void refuse_homes() const;
  // In whose memory the machine file has the block; absent if it does not say.
  [[nodiscard]] std::optional<int> home_of(int block) const;
  // The largest block of the program, plus one; throws BadInput where blocks or threads are too small.
  [[nodiscard]] int blocks_needed() const;
  // Those of the named queues whose size the machine file or the run's options say.
  [[nodiscard]] std::map<std::string, int> queue_sizes(const std::vector<std::string>& queues) const;
  // The rules of memory and work-groups; they and the state, which is bound to `binder_`, live as long as
  // the engine.
  void list_rules(const std::vector<RuleOf>& rules, void* state);
  // The rules that an instruction has, each as add_case gives it; negative where there is none. And those of
  // a slot, whichever it performs.
  [[nodiscard]] std::array<int, 4>& cases_of(const Instruction& at) {
    return at.slot > 0 ? rules_of_issue_ : program_rules_[static_cast<std::size_t>(at.opcode)];
  }
  [[nodiscard]] std::array<int, 4>& cases_of_slots() { return rules_of_slots_; }
  int add_case(const Rule& rule);
  // Gives everything its place and its time.
  void set_up(const SystemEntry& system);
  // What was written so far is how memory is to begin.
  void begin();

  // Of a run under a waiting policy: what the machine file says of it. Throws BadInput where no slots are
  // left.
  [[nodiscard]] SchedulerSetup setup_of_policy() const;

  // ---- guards --------------------------------------------------------------------------------------------

  void begin_guard() {
    timed::reads.begin(binder_.table_of.data(), journal_.compares_data.data());
    if (binder_.has_scalars) {
      timed::reads.note(timed::any_key, false);
      timed::reads.pin();
    }
  }
  [[gnu::always_inline]] void judge(std::uint16_t family, Parameters at, std::uint16_t rule,
                                    const Bool& enabled) {
    if (probing_ != nullptr) {
      timed::reads.end();
      if (enabled.v) probing_->push_back({family, rule, at.a, at.b});
      return;
    }
    if (enabled.v) {
      const Tick arrival = timed::reads.not_before();
      timed::reads.end();
      schedule(family, at, rule, arrival);
    } else {
      park(family, at, rule, enabled.stamp());
      timed::reads.end();
      pass_offer(family, at, rule);
    }
  }
  // Whether the guard of an instance that is due holds, as it does nearly always; what it looks at is only
  // listed where it does not.
  template <class Enabled>
  [[gnu::always_inline]] bool may_fire(std::uint16_t family, Parameters at, std::uint16_t rule,
                                       const Enabled& enabled) {
    timed::reads.begin_unlisted();
    const bool holds = enabled().v;
    timed::reads.end();
    if (!holds) park_due(family, at, rule, enabled);
    pass_offer(family, at, rule);
    return holds;
  }
  template <class Enabled>
  [[gnu::noinline]] void park_due(std::uint16_t family, Parameters at, std::uint16_t rule,
                                  const Enabled& enabled) {
    begin_guard();
    const Bool again = enabled();
    park(family, at, rule, again.stamp());
    timed::reads.end();
  }

  // The thread's next instruction is not before so many cycles from now.
  void pause(std::uint32_t thread, std::int32_t cycles) {
    paused_until_[thread] = journal_.now + static_cast<Tick>(cycles) * timed::ticks_per_cycle;
  }

  [[nodiscard]] std::size_t threads_count() const { return workload_.program.threads.size(); }
  [[nodiscard]] const Program& program() const { return workload_.program; }
  [[nodiscard]] bool has_barriers() const;

  Workload workload_;
  MachineDescription description_;
  std::string_view system_;
  SystemTiming timing_;
  SimulationOptions options_;
  int variant_;
  std::uint64_t fault_bits_;
  int cus_ = 1;
  int agents_ = 1;
  int work_groups_ = 1;
  Seats seats_;
  std::uint16_t threads_family_ = 0;
  std::set<std::string> rules_of_variants_;  // whose rules a machine file may time, whichever runs
  timed::Journal journal_;
  timed::Binder binder_{journal_};

 private:
  static constexpr std::uint32_t nowhere = ~0U;
  static constexpr std::uint32_t patience = 16;
  static constexpr std::uint64_t of_cases = ~std::uint64_t{0}
                                            << first_case;  // rules of a thread's instruction

  struct Watcher {
    std::uint16_t family;
    std::uint16_t rule;
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t epoch;
  };
  // Who waits for a key, besides the rules of the instance whose row it is.
  struct Watch {
    std::uint32_t limit = 16;
    std::vector<Watcher> others;
    // Of a queue that may be full: how much room it has, to how many waiting instances room has been offered,
    // and how many of `others` have had their turn.
    const std::uint32_t* room = nullptr;
    std::uint32_t offers = 0;
    std::uint32_t first = 0;
    std::vector<Watcher> replacements;  // wait for room, too, and go first: a unit may stall for them
  };
  // Who waits for a key.
  struct Waiting {
    std::uint64_t own = 0;       // rules of the owner that do
    std::uint32_t instance = 0;  // the owner: whose row it is
    std::uint32_t watch = 0;     // index into watches_, 0 where nobody else has waited
    std::uint32_t table = 0;     // the key of the table as a whole
    std::uint16_t family = 0xFFFF;
  };
  // What the engine knows of one rule of one instance.
  struct Parked {
    std::uint32_t epoch = 0;   // watchers from before the last parking are stale
    std::uint32_t offer = 0;   // the watch whose room it has been offered, or 0
    std::uint32_t lost = 0;    // how often somebody else has taken it, one after the other
    Key key = timed::any_key;  // what it waits for, if that is one thing
  };

  // Bytes (bytes.hpp), with all names looked up but those of fields of messages not seen yet.
  struct Term {
    bool is_header = false;
    int bytes = 0;  // for each of what is counted; negative where they are subtracted
    ByteTerm::Kind counts = ByteTerm::Kind::word;  // once, or for each that a mask names, or for each mark
    timed::TableBase* table = nullptr;             // of marks
    std::size_t block_place = 0;                   // among its indices
    std::size_t first_field = 0;
    std::size_t fields = 0;
    const ByteTerm* condition = nullptr;  // if it has one
    // Where the condition's field is in messages of one sort, and the values that are meant, as bits.
    mutable const timed::FieldNames* of = nullptr;
    mutable std::size_t field = 0;
    mutable std::uint64_t values = 0;
  };
  struct Sum {
    bool said = false;
    SourcePlace place;
    std::vector<Term> terms;
  };

  struct RuleInfo {  // what every firing looks at comes first
    int unit = 0;
    int cache = -1;  // that it makes room in
    Tick latency = 0;
    Tick occupancy = 0;
    bool carries = false;
    bool spreads = false;                 // waves begin within `start_spread`
    bool anew = false;                    // its latency counts from when it was last found disabled
    bool asks_memory = false;             // or may have a cache make room by what does
    Tick every = 0;                       // 0: looked at whenever it may have become enabled
    Tick turn = 0;                        // 0: it may fire at any time
    std::uint32_t turns = 1;              // until its own comes again
    std::vector<std::uint32_t> own_turn;  // by instance: whose
    int hit = -1;
    int miss = -1;
    int fetches = -1;  // a cache with MSHRs
    int fills = -1;    // likewise
    std::uint64_t firings = 0;
    Tick waited = 0;
    std::vector<int> looks_up;                   // caches with banks
    std::vector<std::pair<int, bool>> accesses;  // caches of which it accesses a block, and whether it writes
    std::vector<timed::Weight> weights;          // by level of links
    std::size_t carried_kind = 0;
    Sum carried;
    std::vector<Sum> sends;  // by level of links
    Sum read;                // from memory
    Sum write;
    Fairness fairness = Fairness::fair;
    std::string name;
    std::string unit_name;
    SourcePlace place;
  };
  // All rules with the same parameters.
  struct Family {
    std::vector<std::string_view> tags;
    std::vector<std::uint32_t> extents;
    bool listed = true;                       // its instances are; false where a parameter is a block
    bool of_threads = false;                  // the first parameter is one
    std::size_t instances = 0;                // where they are listed
    timed::MainMemory::Port first_port = 0;   // of its instances; of all, where they are not listed
    std::vector<int> rules;                   // by number within the family: index into rules_
    std::vector<const RuleOf*> listed_rules;  // likewise
    std::uint64_t fair = 0;                   // which of them are
    std::vector<std::uint64_t> dirty;         // by instance: rules to look at
    std::vector<std::uint64_t> scheduled;     // by instance: rules known to be enabled
    std::vector<std::uint64_t> left_out;      // by instance: rules that are others' (nearest); none: none are
    std::vector<Parked> parked;               // by instance and rule
    std::vector<std::uint32_t> looked_up;     // likewise: the block, where any rule takes turns of banks
    std::array<std::vector<std::uint32_t>, 4> places;  // by Per and instance: which unit

    std::size_t stride = 64;  // rules of an instance, those of a thread's instruction among them

    // Of what is kept by instance and rule.
    [[nodiscard]] std::size_t spot(std::size_t instance, unsigned rule) const {
      return instance * stride + rule;
    }
    // How many instances have the same first parameter. A third one is counted with the second.
    [[nodiscard]] std::uint32_t behind_first() const {
      return extents.size() < 2 ? 1 : extents.size() == 2 ? extents[1] : extents[1] * extents[2];
    }
  };
  struct Unit {
    Tick free_at = 0;
    int stalls = 0;  // caches that wait for room
    bool service_due = false;
    std::deque<std::pair<timed::Event, Tick>> queue;
  };
  struct UnitKind {
    std::string name;
    Per per = Per::system;
    double per_cycle = 1;
    std::size_t first = 0;  // index into units_
    std::size_t count = 1;
  };
  struct Held {
    timed::Event event;
    Tick since;
  };
  // A block that is being fetched for a thread, and who else wants it.
  struct Miss {
    std::uint32_t block;
    std::uint32_t thread;
    std::vector<Held> others;
  };
  struct Cache {
    std::string table_name;
    int unit = -1;
    int level = -1;
    timed::Interleave index;  // of blocks over sets
    std::size_t sets = 1;
    std::size_t ways = 1;
    bool random = false;
    std::uint16_t family = 0;
    std::uint16_t rule = 0;
    timed::TableBase* table = nullptr;
    std::vector<std::uint32_t> extents;
    std::vector<std::vector<std::uint32_t>> lines;  // by unit and set: slots of the table
    std::vector<Tick> stalled_since;                // by unit and set; 0: not stalled
    std::vector<char> used;                         // by unit and set: whether it has ever held a line
    std::size_t mshrs = 0;                          // 0: as many as it takes, and none is shared
    std::vector<std::vector<Miss>> misses;          // by unit
    std::vector<std::deque<Held>> without_mshr;     // by unit: who waits for one
    std::uint64_t merged = 0;
    std::uint64_t mshr_stalls = 0;
    Tick mshr_waited = 0;
    timed::Interleave bank_index;  // of blocks over banks
    std::size_t first_bank = 0;    // index into banks_, by unit and bank
    Tick bank_turn = 0;            // 0: no banks
    std::uint64_t look_ups = 0;    // in banks
    std::uint64_t conflicts = 0;   // of those, how many had to wait
    Tick waited = 0;
    std::uint64_t installed = 0;
    std::uint64_t replaced = 0;
    std::uint64_t dropped = 0;
    Tick stalled = 0;
  };
  // A bank of a cache performs one look-up after the other.
  struct Bank {
    struct LookUp {
      timed::Event event;
      std::size_t nth;  // of the caches that the rule looks up
      Tick since;
    };
    std::size_t cache = 0;
    Tick free_at = 0;
    bool service_due = false;
    std::deque<LookUp> queue;
  };
  struct OfTable {  // what the engine does with a sparse table
    int cache = -1;
    bool is_memory = false;
    std::size_t block_place = 0;
    std::vector<std::pair<std::uint16_t, std::uint64_t>> candidates;  // families and rules
  };

  // A network that links or paths of the system pass, and the nodes of units, by kind.
  struct NetworkInUse {
    struct Seats {
      std::vector<std::uint32_t> nodes;  // of all units of the kind, one after the other
      std::size_t of_unit = 1;           // so many of them are one unit's, which blocks take in turn
    };
    std::string name;
    timed::Network network;
    std::vector<Seats> seats;
  };

  // ---- setting up ----------------------------------------------------------------------------------------

  [[nodiscard]] SystemTiming system_timing() const;
  // What the machine file says otherwise of the run's variant.
  void take_variant(const SystemEntry& system);
  // Work-groups go to CUs in turn, those of an agent to its own CUs.
  void place_threads();
  std::uint16_t family_of(const std::vector<RuleParameter<timed::Erased>>& parameters);

  int add_rule(const Rule& rule);
  void set_timing();
  void set_places(Family& family);
  void set_links();
  // By name; made as it is first asked for. Negative where there is no name.
  int network_named(const std::string& name);
  [[nodiscard]] std::uint32_t node_of(const NetworkInUse& network, int kind, std::size_t unit,
                                      std::uint32_t block) const;
  [[noreturn]] void seats_error(const NetworkInUse& network, int kind) const;
  // Who takes the messages of links that pass a network.
  void set_takers(const Accesses& accesses);
  Carried carry(const timed::Link& link, Tick at, timed::Bytes weight, std::uint32_t block) override;
  void set_caches();
  void set_mshrs();
  void set_anew();
  // Which instances are meant, and when: what a machine file says of a rule's choices.
  void set_nearest();
  void set_turns();
  void set_polled();
  // Throws BadInput where such entries, or those of another variant, are of rules that have no use for them.
  void check_choices() const;
  // Of an instance: its parameter of that index type.
  static std::optional<std::uint32_t> parameter_of(const Family& family, std::string_view type,
                                                   std::size_t instance);
  // Of `extent` members of `timing.nearest` the one that is nearest to what the instance has.
  static std::optional<std::uint32_t> nearest_of(const Family& family, const RuleTiming& timing,
                                                 std::uint32_t extent, std::size_t instance);
  [[nodiscard]] std::uint32_t extent_of(std::string_view type) const;
  // Optional rules of which the machine file says when they fire, on the CUs that are taken away.
  void set_times();
  [[nodiscard]] bool is_taken(std::uint32_t cu) const {
    return cu + static_cast<std::uint32_t>(description_.scheduler.cus_taken) >=
           static_cast<std::uint32_t>(cus_);
  }
  void set_memory();
  // Bytes, and whether they fit what the rules do; in a file of their own.
  void set_bytes();
  void set_sends(RuleInfo& r, const RuleTiming& timing);
  [[nodiscard]] Sum sum_of(const ByteCount& count) const;
  void find_marks(const ByteTerm& term, SourcePlace place, Term& out) const;
  // Only data of messages that are at hand can be counted, and only their fields asked for.
  void check_terms(const Sum& sum, const timed::FieldNames* message, bool marks) const;
  void check_accesses(const SystemEntry& system);
  // In which caches a rule takes turns of banks.
  void set_look_ups(RuleInfo& r, const RuleAccesses& accesses) const;
  void set_looked_up();
  void check_links(const RuleInfo& r, const RuleAccesses& accesses) const;
  void set_accesses(RuleInfo& r, const RuleAccesses& accesses) const;
  [[nodiscard]] std::vector<std::pair<std::string, double>> energy(const Statistics& counted) const;
  void check_memory(const RuleInfo& r, const RuleAccesses& accesses) const;
  [[noreturn]] void bytes_error(const RuleInfo& r, const std::string& message, const std::string& hint) const;
  [[noreturn]] void unsaid_bytes(const RuleInfo& r, const std::string& link) const;
  // A row of a table over the parameters of a family belongs to that instance.
  void set_owners();

  // Finds, for each rule over blocks, the table whose absent row disables it.
  void find_candidates();
  void find_candidates_of(std::uint16_t f, std::uint16_t rule);
  // Whether the rule has been parked on rows of a table over what it is over, which becomes its candidates'.
  bool watches_candidate(std::uint16_t f, std::uint16_t rule);
  void start();
  // The first of several threads in one place, and what rules of it wait for that is in its own row alone.
  struct FirstOfMany {
    struct Shared {
      const timed::TableInfo* table;
      Key key;
      std::uint64_t rules;
    };
    std::size_t thread = 0;
    std::vector<Shared> shared;
  };
  // Parks rules of a thread as those of the first, without looking at guards; returns the others.
  std::uint64_t park_as_first(FirstOfMany& first, std::size_t thread, std::uint64_t rules);
  void find_shared(FirstOfMany& first, std::uint64_t rules);
  [[nodiscard]] SimulationEnd end() const;

  [[nodiscard]] RuleInfo& info(const Family& family, std::uint16_t rule, std::uint32_t thread);
  // Looks at the rules of one instance that the mask names.
  void consider_family(std::uint16_t f, Parameters at, std::uint64_t mask);
  // Fires one rule of one instance if its guard holds.
  bool fire_family(std::uint16_t f, Parameters at, std::uint16_t rule);

  static timed::MainMemory::Port port_of(const Family& family, Parameters at);
  static std::size_t instance_of(const Family& family, Parameters at) {
    return family.extents.size() >= 2 ? std::size_t{at.a} * family.behind_first() + at.b : at.a;
  }
  // Those that fire of themselves.
  static std::uint64_t rules_of(const Family& family, std::size_t instance) {
    return family.left_out.empty() ? family.fair : family.fair & ~family.left_out[instance];
  }
  // As rules take them.
  static std::array<std::uint32_t, max_parameters> members_of(const Family& family, Parameters at) {
    if (family.extents.size() < 3) return {at.a, at.b};
    return {at.a, at.b / family.extents[2], at.b % family.extents[2]};
  }

  // Waits for a write to one of the rows that the guard rests on.
  [[gnu::noinline]] void park(std::uint16_t f, Parameters at, std::uint16_t rule, timed::Stamp rests_on);
  // Looks at it again when it is time.
  void poll(std::uint16_t f, Parameters at, std::uint16_t rule);
  // Forgets watchers that have been woken by another row since.
  void compact(Watch& w);

  void mark(std::uint16_t f, std::uint32_t instance, std::uint64_t rules);
  Watch& watch_of(Key key);
  void wake_watch(std::uint32_t number);
  // Of all who wait for room in a queue, as many are woken as there is room for, in the order in which they
  // came; whoever has made use of it, or could not, passes the offer on. As long as somebody waits while
  // there is room, an offer is on its way.
  void offer_room(std::uint32_t number);
  [[gnu::noinline]] void pass_offer(std::uint16_t f, Parameters at, std::uint16_t rule);
  void wake(Key key);
  void wake_owner(Key key, Waiting& waiting);

  // Those of the rules whose latency counts anew that were enabled and are no longer.
  void recheck();
  // Looks at every instance that the last firings may concern.
  void consider_woken();
  void consider_marked();
  static Parameters parameters_of(const Family& family, std::size_t instance);
  static std::uint64_t packed(const timed::Event& e);

  // ---- time ----------------------------------------------------------------------------------------------

  [[nodiscard]] std::size_t place(const Family& family, Per per, Parameters at) const;
  [[nodiscard]] std::size_t unit_of(const Family& family, const RuleInfo& rule, Parameters at) const;

  [[gnu::noinline]] void schedule(std::uint16_t f, Parameters at, std::uint16_t rule, Tick arrival);
  // When news that leaves a unit then is with an instance.
  [[nodiscard]] std::uint32_t block_of_news(const timed::Event& event) const;
  struct Sender {
    int kind = -1;            // of unit
    std::size_t unit = 0;     // which of them
    std::uint32_t block = 0;  // that the news are of
  };
  Tick news_arrives(const timed::Event& event, const RuleInfo& r, const Sender& from, Tick leaves);
  // Look-ups are pipelined, also those of messages behind one another on a link: each takes its time from the
  // message's arrival on.
  void due_at(const timed::Event& event, const RuleInfo& r, Tick due, Tick arrival, bool offered);

  // An instance is due: it takes its turn, or waits for one.
  void attempt(const timed::Event& event);
  // Of a rule whose latency counts anew: it has been disabled since the event was made.
  [[nodiscard]] bool is_stale(const timed::Event& event, const RuleInfo& r) const {
    return r.anew &&
           due_[instance_of(families_[event.family], {event.a, event.b}) * 64 + event.rule] > journal_.now;
  }
  // Takes a turn of the block's bank in each cache that the rule looks up, from the nth on. Returns false
  // where it has to wait for one.
  bool look_up(const timed::Event& event, const RuleInfo& r, std::size_t nth);
  void serve_bank(std::size_t number);
  // Whoever misses a block that is being fetched, or finds all MSHRs taken, is held until it is there, or one
  // of them is free, and then looks again.
  [[gnu::noinline]] bool may_fetch(const timed::Event& event, const RuleInfo& r);
  void begin_miss(const timed::Event& event, const RuleInfo& r);
  void end_miss(const timed::Event& event, const RuleInfo& r);
  // To the first of those who wait for one, unless all are taken. Whoever makes no use of it offers it again.
  void offer_mshr(Cache& cache, std::size_t unit);
  void try_again(Cache& cache, const Held& held);
  [[nodiscard]] std::size_t unit_within(const Cache& cache, const timed::Event& event) const;
  void take_or_wait(const timed::Event& event, RuleInfo& r);
  // Returns whether the turn was used.
  bool take_turn(Unit& unit, const timed::Event& event, RuleInfo& r);
  // An instance whose port is taken tries again when it is free.
  [[gnu::noinline]] bool may_send(const timed::Event& event);
  void call_service(std::size_t u);
  void serve(std::size_t u);

  // ---- firing --------------------------------------------------------------------------------------------

  bool fire(const timed::Event& event, RuleInfo& r);
  void fired(RuleInfo& r, const Family& family, Parameters at);
  // Of a field by its path.
  static std::string short_name(const std::string& path) { return path.substr(path.rfind('.') + 1); }
  static double in_cycles(Tick t) {
    return static_cast<double>(t) / static_cast<double>(timed::ticks_per_cycle);
  }
  [[gnu::noinline]] void tell(const RuleInfo& r, const Family& family, Parameters at) const;

  // Brings caches, memory and the list of who may be concerned up to date with what a firing wrote.
  void settle(const RuleInfo& r);

  // Of a message that the firing rule sends.
  timed::Bytes weigh(std::size_t level, const timed::Message& message) override;
  // What a sum comes to for a message, a thread and a block of memory; of each what there is.
  [[nodiscard]] timed::Bytes total(const RuleInfo& r, const Sum& sum, const timed::Message* message,
                                   std::uint32_t thread, std::uint32_t block) const;
  [[nodiscard]] bool holds(const RuleInfo& r, const Term& term, const timed::Message* message,
                           std::uint32_t thread) const;
  void find_field(const RuleInfo& r, const Term& term, const timed::FieldNames& names) const;
  [[nodiscard]] std::uint64_t values_named(const ByteTerm& condition, SourcePlace place,
                                           const std::vector<std::string_view>& names) const;
  [[nodiscard]] unsigned marks_taken(const Term& term, std::uint32_t block) const;
  // The thread that a rule is over, or nowhere.
  static std::uint32_t thread_of(const Family& family, Parameters at) {
    return family.of_threads ? at.a : nowhere;
  }

  // Memory is accessed once for each block of which the firing has touched anything there.
  void note_memory(std::uint32_t block, unsigned changed_words);
  void access_memory(const RuleInfo& r);
  void read_memory(std::uint32_t block, unsigned bytes);
  // One that nothing is waited for with; it stays free until something is.
  std::uint32_t free_wait();
  void call_memory();
  void advance_memory(std::uint32_t channel);
  // All that a firing has asked of memory is there: news of it leaves.
  void answer(std::uint32_t token);

  // Loads, stores and the like are timed from issue to completion: those at a port.
  void note_operation(std::uint32_t t);
  // The port that a thread's instruction is about to use, where the thread is: its own, or a slot's.
  [[nodiscard]] std::uint32_t port_in_use(std::uint32_t t) const;

  // ---- a profile, where one is wanted (event_engine_profile.cpp) ------------------------------------------

  // What is counted beside it, by unit, thread and kernel.
  struct Observed {
    timed::Profile profile;
    std::vector<timed::Profile::Station> work;                  // by kind of unit
    std::vector<timed::Profile::Station> turns;                 // likewise
    std::vector<std::array<timed::Profile::Station, 3>> links;  // by level: turn, way, behind others
    std::vector<std::vector<std::array<timed::Profile::Station, 2>>> paths;  // from, to: turn, way
    std::vector<std::array<timed::Profile::Station, 2>> caches;              // banks, MSHRs
    boost::unordered_flat_map<Key, timed::Profile::Station> rooms;           // of queues, by key
    timed::Profile::Station memory = 0;
    timed::Profile::Station memory_queue = 0;
    timed::Profile::Station memory_room = 0;
    timed::Profile::Station computing = 0;
    timed::Profile::Station timers = 0;

    struct OfUnit {
      std::uint64_t firings = 0;
      Tick busy = 0;
      Tick waited = 0;
      std::vector<Statistics::Level> levels;
    };
    std::vector<OfUnit> units;
    std::vector<Tick> last;      // by thread: when its instruction fired last
    std::vector<int> kernel_of;  // by thread; -1: none
    std::vector<int> left;       // by kernel: threads that have not ended
    std::vector<Statistics::Kernel> kernels;
    Statistics::Counters at_kernel;  // when the last one ended
    std::vector<Statistics::Epoch> epochs;
    Statistics::Counters at_epoch;
    std::string activity;  // of the wave whose instruction is firing
  };
  void set_profile();
  [[nodiscard]] timed::Profile::Head head_seen() const;
  static timed::Profile::Instance key_of(std::uint16_t f, Parameters at, std::uint16_t rule) {
    return {std::uint32_t{f} << 6 | rule, at.a, at.b};
  }
  void profile_parked(std::uint16_t f, Parameters at, std::uint16_t rule, timed::Stamp rests_on);
  // Of an instance that is scheduled: it waits there until then.
  void profile_wait(const timed::Event& event, timed::Profile::Station station, Tick until) {
    observed_->profile.waits(key_of(event.family, {event.a, event.b}, event.rule), station, until);
  }
  void profile_firing(const timed::Event& event, const RuleInfo& r);
  void profile_wave(std::uint32_t thread);
  void profile_counts(const RuleInfo& r, const Family& family, Parameters at);
  // What the wave whose instruction is about to fire has done since its last one.
  [[nodiscard]] std::string activity_of(std::uint32_t thread, const RuleInfo& r) const;
  void end_epochs();
  [[nodiscard]] Statistics counted() const;  // all but the profile
  [[nodiscard]] Statistics::Profile profile_statistics() const;

  // ---- caches --------------------------------------------------------------------------------------------

  [[nodiscard]] std::size_t set_of(const Cache& cache, const std::uint32_t* at) const;
  void line_changed(const OfTable& use, std::uint32_t slot, const std::uint32_t* at,
                    timed::TableBase::Change change, const RuleInfo& r);

  // Of a unit that has used any, on average.
  static double sets_used(const Cache& cache);
  // Fires the replacement of the first victim that may go, in the policy's order, until the set fits.
  void make_room(int c, std::size_t set);
  // A replacement's own memory access is not what the firing that caused it waits for.
  void settle_replacement(const RuleInfo& r);
  void make_room_again(int c, Parameters at);
  [[nodiscard]] Unit& unit_of_set(const Cache& cache, std::size_t set);
  void begin_stall(Cache& cache, std::size_t set);
  void end_stall(Cache& cache, std::size_t set);

  // News of a firing that leaves when what the firing has asked of memory is there.
  struct News {
    timed::Event event;
    Sender from;
    Tick arrival;
    bool offered;
  };
  struct Wait {
    std::uint32_t outstanding = 0;
    Tick done = 0;
    std::vector<News> news;
  };
  static constexpr std::uint32_t no_wait = ~0U;

  struct Path {
    std::string name;
    std::vector<timed::Link> links;
    std::unique_ptr<std::vector<timed::Link::Traffic>> traffic;
    int network = -1;
  };

  std::mt19937_64 random_;
  void* state_of_rules_ = nullptr;

  std::vector<RuleInfo> rules_;
  std::vector<Family> families_;
  std::array<std::array<int, 4>, 16> program_rules_{};  // by opcode
  std::array<int, 4> rules_of_issue_{};                 // of one that is handed to a slot
  std::array<int, 4> rules_of_slots_{};
  std::vector<UnitKind> unit_kinds_;
  std::vector<Unit> units_;
  std::vector<std::vector<Path>> paths_;  // from, to
  std::vector<std::string> carried_kinds_;
  std::deque<timed::Link> links_;
  struct LinkLevel {
    const timed::QueueInfo* queue;
    std::vector<timed::Link::Traffic> traffic;
    std::size_t first;  // index into links_
    int network = -1;
    int taker = -1;                   // the kind of unit that takes its messages, where it has a network
    std::vector<std::size_t> takers;  // which of them, by queue
  };
  std::deque<LinkLevel> link_levels_;
  std::deque<NetworkInUse> networks_;
  std::vector<Cache> caches_;
  std::vector<Bank> banks_;
  std::vector<OfTable> of_table_;
  std::vector<std::string> level_names_;
  std::vector<Statistics::Level> levels_;
  timed::MainMemory main_memory_;
  std::vector<Wait> waits_;
  std::vector<std::uint32_t> free_waits_;
  std::vector<std::vector<std::pair<timed::Event, Tick>>> held_;  // by port: since when it waits for it

  std::vector<Waiting> waiting_;  // by key
  std::deque<Watch> watches_;
  std::vector<Watcher> woken_;
  std::vector<std::uint32_t> passed_on_;
  std::vector<std::vector<const timed::TableInfo*>> candidate_tables_;  // by family and rule
  Key context_key_ = 0;                                                 // of the first thread's context
  Key context_keys_ = 1;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> dirty_;
  std::vector<timed::Event> dirty_blocks_;
  boost::unordered_flat_set<std::uint64_t> scheduled_blocks_;
  // Of instances over blocks: who waits for room at which watch, and whom it has been offered to.
  boost::unordered_flat_set<std::pair<std::uint64_t, std::uint32_t>> blocks_in_line_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> offered_blocks_;
  bool probing_all_ = false;  // whatever a guard has looked at is wanted, not only what it rests on
  std::vector<std::pair<int, std::size_t>> overfull_;
  std::vector<std::uint32_t> victims_;
  std::vector<timed::Event>* probing_ = nullptr;

  // The rule that is firing, and with which parameters.
  const RuleInfo* firing_ = nullptr;
  const Family* firing_family_ = nullptr;
  Parameters firing_at_;
  struct Touched {
    std::uint32_t block;
    unsigned changed_words;
  };
  std::vector<Touched> touched_;  // blocks of memory, by the firing that is being settled

  timed::Wheel wheel_;
  std::size_t cause_place_ = 0;         // which unit of the kind
  int cause_unit_ = -1;                 // of the firing whose consequences are being looked at
  Tick cause_done_ = 0;                 // when what it asked of memory is there
  Tick cause_begun_ = 0;                // and when it began to be transferred, if that is known
  std::uint32_t cause_wait_ = no_wait;  // or who will be told
  timed::MainMemory::Port port_ = 0;    // of that firing
  bool replacing_ = false;
  std::uint64_t firings_ = 0;
  std::uint64_t lines_invalidated_ = 0;
  std::uint64_t atomics_ = 0;
  Tick last_end_ = 0;
  Tick drained_ = 0;  // when anything happened last
  Tick memory_stalled_ = 0;
  std::vector<Tick> paused_until_;  // by thread
  // Of rules whose latency counts anew: the one family that has any, and by instance and rule when those that
  // are scheduled are due. Events from before are dropped.
  std::uint16_t anew_family_ = 0xFFFF;
  std::uint16_t polled_family_ = 0xFFFF;  // of the rule that is looked at from time to time
  std::uint16_t polled_rule_ = 0;
  std::optional<timed::Event> to_poll_;  // if anything else is to come
  bool started_ = false;
  std::uint64_t anew_ = 0;
  std::vector<Tick> due_;
  bool rechecks_ = false;
  std::vector<Tick> issued_;  // by thread: when its operation was issued, plus one
  std::array<std::pair<std::uint64_t, Tick>, 4> operations_{};
  std::unique_ptr<Observed> observed_;            // none: nobody wants to know
  timed::Profile::Record cause_ = timed::nobody;  // the firing whose consequences are being looked at
  Tick next_epoch_ = ~Tick{0};
};

}  // namespace lockstep
