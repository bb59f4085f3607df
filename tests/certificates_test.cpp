// Certificates: what clauses say of terms, and what counts as a refutation of them.
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"
#include "proofs/certificates/certifier.hpp"
#include "proofs/certificates/encoder.hpp"
#include "proofs/certificates/refutation.hpp"
#include "proofs/prover.hpp"

using namespace lockstep;

namespace {

std::string step(char what, const std::vector<int>& literals) {
  std::string text(1, what);
  for (const int a : literals) {
    unsigned number = 2U * static_cast<unsigned>(std::abs(a)) + (a < 0 ? 1U : 0U);
    for (; number > 127; number >>= 7U) text += static_cast<char>((number & 127U) | 128U);
    text += static_cast<char>(number);
  }
  return text + '\0';
}

Cnf clauses_of(int variables, const std::vector<std::vector<int>>& some) {
  Cnf clauses;
  while (clauses.variables() < variables) clauses.new_variable();
  for (const std::vector<int>& clause : some) clauses.add(clause);
  return clauses;
}

// Of two variables each way.
const std::vector<std::vector<int>> contradiction{{1, 2}, {1, -2}, {-1, 2}, {-1, -2}};

// Whether some values of variables satisfy the clauses.
bool satisfiable(const Cnf& clauses) {
  z3::context context;
  z3::solver solver(context, "QF_FD");
  std::vector<z3::expr> variables;
  for (int i = 0; i <= clauses.variables(); ++i)
    variables.push_back(context.bool_const(std::to_string(i).c_str()));
  z3::expr_vector clause(context);
  for (const int n : clauses.numbers()) {
    if (n != 0) {
      const z3::expr& variable = variables[static_cast<std::size_t>(std::abs(n))];
      clause.push_back(n > 0 ? variable : !variable);
      continue;
    }
    solver.add(z3::mk_or(clause));
    clause = z3::expr_vector(context);
  }
  return solver.check() == z3::sat;
}

// Random terms of what obligations are made of.
class Terms {
 public:
  Terms(z3::context& context, unsigned seed) : context_(context), random_(seed) {}

  z3::expr truth(int depth) {
    switch (depth == 0 ? 0 : pick(13)) {
      case 0:
        return context_.bool_const(name("p", 2).c_str());
      case 1:
        return truth(depth - 1) && truth(depth - 1);
      case 2:
        return truth(depth - 1) || truth(depth - 1);
      case 3:
        return !truth(depth - 1);
      case 4:
        return z3::implies(truth(depth - 1), truth(depth - 1));
      case 5:
        return z3::ite(truth(depth - 1), truth(depth - 1), truth(depth - 1));
      case 6:
        return truth(depth - 1) == truth(depth - 1);
      case 7:
        return bits(depth - 1) == bits(depth - 1);
      case 8: {
        const z3::expr a = bits(depth - 1), b = bits(depth - 1);
        switch (pick(8)) {
          case 0:
            return z3::ult(a, b);
          case 1:
            return z3::ugt(a, b);
          case 2:
            return z3::ule(a, b);
          case 3:
            return z3::uge(a, b);
          case 4:
            return a < b;
          case 5:
            return a > b;
          case 6:
            return a <= b;
          default:
            return a >= b;
        }
      }
      case 9: {
        const z3::expr a = time(depth - 1), b = time(depth - 1);
        switch (pick(5)) {
          case 0:
            return a < b;
          case 1:
            return a > b;
          case 2:
            return a <= b;
          case 3:
            return a >= b;
          default:
            return a == b;
        }
      }
      case 10: {
        z3::expr_vector some(context_);
        for (int i = 0; i < 3; ++i) some.push_back(word(depth - 1));
        return z3::distinct(some);
      }
      default:
        return word(depth - 1) == word(depth - 1);
    }
  }

 private:
  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  std::string name(const char* prefix, int of) { return prefix + std::to_string(pick(of)); }

  z3::expr bits(int depth) {
    switch (depth == 0 ? pick(2) : pick(9)) {
      case 0:
        return context_.bv_val(pick(8), 3);
      case 1:
        return context_.bv_const(name("b", 2).c_str(), 3);
      case 2:
        return bits(depth - 1) + bits(depth - 1);
      case 3:
        return bits(depth - 1) - bits(depth - 1);
      case 4:
        return bits(depth - 1) & bits(depth - 1);
      case 5:
        return bits(depth - 1) | bits(depth - 1);
      case 6:
        return bits(depth - 1) ^ bits(depth - 1);
      case 7:
        return ~bits(depth - 1);
      default:
        return z3::ite(truth(depth - 1), bits(depth - 1), bits(depth - 1));
    }
  }
  // A number of a range, as the prover's variables of one are.
  z3::expr time(int depth) {
    switch (depth == 0 ? pick(2) : pick(5)) {
      case 0:
        return context_.int_val(pick(9) - 4);
      case 1: {
        const z3::expr x = context_.int_const(name("t", 3).c_str());
        return z3::ite(x >= -2 && x <= 5, x, context_.int_val(-2));
      }
      case 2:
        return time(depth - 1) + time(depth - 1);
      case 3:
        return time(depth - 1) - time(depth - 1);
      default:
        return z3::ite(truth(depth - 1), time(depth - 1), time(depth - 1));
    }
  }
  // Anything, of which only equality is known.
  z3::expr word(int depth) {
    switch (depth == 0 ? pick(3) : pick(6)) {
      case 0:
        return context_.int_val(pick(3) - 1);
      case 1:
      case 2:
        return context_.int_const(name("w", 3).c_str());
      case 3:
        return z3::ite(truth(depth - 1), word(depth - 1), word(depth - 1));
      default: {
        const z3::sort whole = context_.int_sort();
        return context_.function("f", context_.bv_sort(3), whole, whole)(bits(depth - 1), word(depth - 1));
      }
    }
  }

  z3::context& context_;
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("a refutation is one only if each of its steps follows and it ends in the empty clause") {
  const Cnf clauses = clauses_of(3, contradiction);
  CHECK(check_refutation(clauses, step('a', {1}) + step('a', {})).refuted);
  // From the unit the rest follows by propagation.
  CHECK(check_refutation(clauses, step('a', {1})).refuted);
  // What is taken away is only looked at less.
  CHECK(check_refutation(clauses, step('a', {1, 3}) + step('d', {3, 1}) + step('a', {1})).refuted);
  CHECK(check_refutation(clauses, step('d', {1, 3}) + step('a', {1})).refuted);

  const auto refused = [](const Cnf& of, const std::string& proof) {
    const Checked checked = check_refutation(of, proof);
    CHECK_FALSE(checked.refuted);
    return checked.why;
  };
  CHECK(refused(clauses, "") == "it ends before the empty clause");
  CHECK(refused(clauses, step('a', {1, 3})) == "it ends before the empty clause");
  CHECK(refused(clauses, step('a', {})) == "step 1 does not follow by unit propagation");
  CHECK(refused(clauses, step('d', {1, 2}) + step('a', {1})) == "step 2 does not follow by unit propagation");
  CHECK(refused(clauses, step('a', {4})) == "step 1 names variable 4 of 3");
  CHECK(refused(clauses, "x") == "byte 0 is neither 'a' nor 'd'");
  CHECK(refused(clauses, step('a', {1, 3}).substr(0, 2)) == "it breaks off within step 1");
  CHECK(refused(clauses, std::string("a\xff\xff\xff\xff\xff\xff", 7)) == "it breaks off within step 1");
  // Each clause is needed.
  for (std::size_t left_out = 0; left_out < contradiction.size(); ++left_out) {
    std::vector<std::vector<int>> fewer = contradiction;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
    for (const int unit : {1, -1, 2, -2})
      CHECK_FALSE(check_refutation(clauses_of(3, fewer), step('a', {unit}) + step('a', {})).refuted);
  }
  // A step that only RAT allows: 3 is in no clause, so {3} changes nothing, and does not follow either.
  CHECK(refused(clauses_of(3, {{1, 2}}), step('a', {3})) == "step 1 does not follow by unit propagation");
}

TEST_CASE("clauses are satisfiable where terms are, and only there") {
  int refuted = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    z3::context context;
    Terms terms(context, seed);
    const std::vector<z3::expr> given{terms.truth(4), terms.truth(4), terms.truth(3), terms.truth(5)};
    const std::vector<z3::expr> goals{terms.truth(3), terms.truth(4)};
    z3::solver solver(context);
    for (const z3::expr& term : given) solver.add(term);
    solver.add(!(goals[0] && goals[1]));
    const z3::check_result answer = solver.check();
    REQUIRE(answer != z3::unknown);
    const Encoded encoded = encode(given, goals);
    INFO("seed " << seed << "\n" << solver);
    CHECK(encoded.exact);
    CHECK(satisfiable(encoded.clauses) == (answer == z3::sat));
    refuted += answer == z3::unsat ? 1 : 0;
  }
  CHECK(refuted > 60);
}

TEST_CASE("of a function it is known that equal arguments make equal results, and no more") {
  z3::context context;
  const z3::sort whole = context.int_sort();
  const z3::expr x = context.int_const("x"), y = context.int_const("y");
  const z3::expr b = context.bv_const("b", 3), c = context.bv_const("c", 3);
  const z3::func_decl f = context.function("f", context.bv_sort(3), whole, whole);
  const z3::func_decl g = context.function("g", whole, context.bool_sort());
  const auto follows = [](const std::vector<z3::expr>& given, const z3::expr& goal) {
    const Encoded encoded = encode(given, {goal});
    CHECK(encoded.exact);
    return !satisfiable(encoded.clauses);
  };
  CHECK(follows({x == y, b == c}, f(b, x) == f(c, y)));
  CHECK(follows({x == y, b == c}, f(b, f(b, x)) == f(c, f(c, y))));
  CHECK(follows({x == 1, g(x)}, g(context.int_val(1))));
  CHECK_FALSE(follows({x == y}, f(b, x) == f(c, y)));
  CHECK_FALSE(follows({b == c}, f(b, x) == f(c, y)));
  CHECK_FALSE(follows({f(b, x) == f(b, y)}, x == y));
}

TEST_CASE("clauses are exact only where each variable of a range is read in one way, and bits are few") {
  z3::context context;
  const z3::expr x = context.int_const("x"), p = context.bool_const("p");
  const auto within = [&](const z3::expr& e, int high) {
    return z3::ite(e >= 0 && e <= high, e, context.int_val(0));
  };
  const auto exact = [](const std::vector<z3::expr>& given, const z3::expr& goal) {
    return encode(given, {goal}).exact;
  };
  CHECK(exact({within(x, 3) > 2}, within(x, 3) == 3));
  CHECK_FALSE(exact({within(x, 3) > 2}, within(x, 2) == 0));
  CHECK_FALSE(exact({x == 2}, within(x, 3) == 2));
  CHECK_FALSE(exact({within(x, 3) == 2}, x == 2));
  const z3::func_decl f = context.function("f", context.int_sort(), context.int_sort());
  CHECK_FALSE(exact({p}, within(f(x), 3) == 2));
  // What looks like one, but is none.
  const z3::expr some = z3::forall(x, x > 0);
  CHECK_FALSE(exact({p}, z3::ite(some && p, x, context.int_val(0)) == 0));
  // Numbers of more bits than a word of the machine are not read: above, 0 is less than 2^63.
  const z3::expr wide = context.bv_val(std::uint64_t{1} << 63U, 65);
  const Encoded encoded = encode({context.bv_val(0, 65) < wide}, {context.bool_val(false)});
  CHECK_FALSE(encoded.exact);
  CHECK(satisfiable(encoded.clauses));
}

TEST_CASE("what clauses do not say may be anything") {
  z3::context context;
  const z3::expr x = context.int_const("x"), y = context.int_const("y"), p = context.bool_const("p");
  const auto left_open = [&](const std::vector<z3::expr>& given, const z3::expr& goal) {
    const Encoded encoded = encode(given, {goal});
    CHECK_FALSE(encoded.exact);
    return satisfiable(encoded.clauses);
  };
  CHECK(left_open({x < y}, !(y < x)));
  CHECK(left_open({z3::forall(x, x == y)}, context.bool_val(false)));
  CHECK(left_open({x == y + 1}, !(x == y)));
  // But it is the same thing each time.
  CHECK_FALSE(left_open({x < y}, x < y));
  CHECK_FALSE(left_open({z3::implies(z3::forall(x, x == y), p), z3::forall(x, x == y)}, p));
  // Of a range a variable is read in, nothing but the range is known where it is compared with what has none.
  const z3::expr ranged = z3::ite(x >= 0 && x <= 3, x, context.int_val(0));
  CHECK(left_open({ranged == y, y == 7}, context.bool_val(false)));
}

TEST_CASE("threads that write the same file each leave it whole") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "certificate";
  const std::string text(100000, 'x');
  std::vector<std::string> failed(2);
  std::vector<std::thread> threads;
  for (std::string& why : failed) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200 && why.empty(); ++i) {
        try {
          write_whole(file, text);
          if (read_file(file) != text) why = "it is not whole";
        } catch (const BadInput& error) {
          why = error.what();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& why : failed) CHECK(why.empty());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("what is proved of a system has certificates, which are checked again") {
  const TemporaryFolder folder;
  const std::unique_ptr<ProofSubject> subject = find_proof("german").build({}, false);
  ProveOptions options;
  options.certificates = (folder.path() / "certificates").string();
  const ProofResult first = prove(*subject, options);
  REQUIRE(first.proved());
  CHECK(first.certifier.starts_with("CaDiCaL "));
  CHECK_FALSE(first.certificates.empty());
  std::set<std::string> named;
  for (const Obligation& o : first.obligations) {
    INFO(o.rule << ": " << o.lemma);
    CHECK(o.by_reading == o.certificate.empty());
    CHECK(o.why_no_certificate.empty());
    if (!o.by_reading) named.insert(o.certificate);
  }
  CHECK(named.size() == first.certificates.size());
  for (const Certificate& one : first.certificates) CHECK_FALSE(one.found_before);

  const ProofResult again = prove(*subject, options);
  CHECK(again.proved());
  for (const Certificate& one : again.certificates) CHECK(one.found_before);

  // One that is damaged, or another's, is none.
  const std::filesystem::path certificates = options.certificates;
  const std::string damaged = *named.begin();
  std::filesystem::copy_file(certificates / (*named.rbegin() + ".drat"), certificates / (damaged + ".drat"),
                             std::filesystem::copy_options::overwrite_existing);
  const ProofResult third = prove(*subject, options);
  CHECK_FALSE(third.proved());
  CHECK(exit_status(third) == 2);
  for (const Obligation& o : third.obligations) {
    if (o.status == ProofStatus::proved) continue;
    CHECK(o.status == ProofStatus::error);
    CHECK(o.message.find(damaged + ".drat is no refutation: ") != std::string::npos);
  }
}

TEST_CASE("what a fault breaks has no certificate, and what it leaves has") {
  const TemporaryFolder folder;
  SystemOptions faulty;
  faulty.faults = {"keep-copy"};
  const std::unique_ptr<ProofSubject> subject = find_proof("german").build(faulty, false);
  ProveOptions options;
  options.certificates = folder.path().string();
  const ProofResult result = prove(*subject, options);
  CHECK(result.count(ProofStatus::refuted) > 0);
  CHECK(result.count(ProofStatus::refuted) + result.count(ProofStatus::proved) == result.obligations.size());
  for (const Obligation& o : result.obligations)
    CHECK(o.certificate.empty() == (o.by_reading || o.status == ProofStatus::refuted));
}
