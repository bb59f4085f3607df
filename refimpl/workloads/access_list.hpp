// Lists of accesses as workloads: CSV with a line for each access of a wave. Such a list has no data, so
// there are no results to check.
#pragma once

#include <string_view>

#include "refimpl/workloads/workload.hpp"

namespace lockstep {

// "accesses.csv", "accesses.csv.xz", in whatever folder.
bool names_access_list(std::string_view name);

// The first line names columns, in any order:
//   wave       its number                                          (needed)
//   operation  load, store, add, exchange, fence, barrier or pause (needed)
//   address    in bytes, decimal or behind 0x; of what accesses memory
//   bytes      from there on; default 64
//   order      plain (default), relaxed, acquire, release, acq_rel; of a fence acq_rel is the default
//   scope      wg, agent (default) or system
//   cycles     of a pause
//   work_group of the wave; default: one of its own
//   kernel     a number that grows from line to line, or stays; default 0
// A wave's lines are its code, in order; it goes on while accesses that order nothing are under way, as the
// machine allows. Each kernel begins when the one before has ended. Building throws BadInput with the place
// of what is no such list. The entry bears the name that is given, which has to outlive it.
WorkloadEntry access_list(std::string_view name);

}  // namespace lockstep
