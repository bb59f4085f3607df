#include "proofs/solving.hpp"

#include <algorithm>

namespace lockstep {

z3::solver make_solver(double seconds_each, bool from_scratch) {
  z3::context& context = symbolic::Session::current().context();
  const bool bits = symbolic::Session::current().only_bits();
  const auto tactic = [&](const char* name) { return z3::tactic(context, name); };
  z3::solver solver =
      bits && from_scratch
          ? (tactic("simplify") & tactic("solve-eqs") & tactic("bit-blast") & tactic("sat")).mk_solver()
          : (bits ? z3::solver(context, "QF_BV") : z3::solver(context));
  z3::params parameters(context);
  parameters.set("timeout", static_cast<unsigned>(seconds_each * 1000));
  parameters.set("ctrl_c", false);  // Z3 would take the signal, and give up one obligation
  solver.set(parameters);
  return solver;
}

symbolic::Term symbolic::by_default(const Domain& domain) {
  const int least = domain.low > 0 ? domain.low : std::min(domain.high, 0);
  return Session::current().member(domain, domain.kind == Domain::Kind::integer ? least : 0);
}

}  // namespace lockstep
