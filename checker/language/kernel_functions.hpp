// The functions that kernels in OpenCL C and C call, and what their arguments are called.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "checker/language/text.hpp"
#include "spec/program/program.hpp"

namespace lockstep::litmus {

enum class Act : std::uint8_t {
  load,
  store,
  initialise,
  rmw,
  compare_swap,
  test_and_set,
  clear,
  fence,
  barrier
};

struct Function {
  std::string_view name;
  Act act = Act::load;
  RmwFunction rmw = RmwFunction::exchange;
  bool weak = false;
};

// Those that end in _explicit as well are listed without it.
inline constexpr std::array functions{
    Function{"atomic_load", Act::load},
    Function{"atomic_store", Act::store},
    Function{"atomic_init", Act::initialise},
    Function{"atomic_exchange", Act::rmw, RmwFunction::exchange},
    Function{"atomic_fetch_add", Act::rmw, RmwFunction::add},
    Function{"atomic_fetch_sub", Act::rmw, RmwFunction::subtract},
    Function{"atomic_fetch_and", Act::rmw, RmwFunction::bit_and},
    Function{"atomic_fetch_or", Act::rmw, RmwFunction::bit_or},
    Function{"atomic_fetch_xor", Act::rmw, RmwFunction::bit_xor},
    Function{"atomic_fetch_min", Act::rmw, RmwFunction::minimum},
    Function{"atomic_fetch_max", Act::rmw, RmwFunction::maximum},
    Function{"atomic_compare_exchange_strong", Act::compare_swap},
    Function{"atomic_compare_exchange_weak", Act::compare_swap, RmwFunction::exchange, true},
    Function{"SCAS", Act::compare_swap},
    Function{"WCAS", Act::compare_swap, RmwFunction::exchange, true},
    Function{"atomic_flag_test_and_set", Act::test_and_set},
    Function{"atomic_flag_clear", Act::clear},
    Function{"atomic_thread_fence", Act::fence},
    Function{"atomic_work_item_fence", Act::fence},
    Function{"barrier", Act::barrier},
    Function{"work_group_barrier", Act::barrier},
};

struct NamedOrder {
  std::string_view name;
  Order order = Order::sc;
};
inline constexpr std::array orders{
    NamedOrder{"memory_order_relaxed", Order::relaxed}, NamedOrder{"memory_order_acquire", Order::acquire},
    // Of updates that commute (Sinclair et al., "Chasing Away RAts", ISCA 2017); relaxed elsewhere.
    NamedOrder{"memory_order_comm", Order::comm}, NamedOrder{"memory_order_release", Order::release},
    NamedOrder{"memory_order_acq_rel", Order::acq_rel}, NamedOrder{"memory_order_seq_cst", Order::sc},
    // Compilers read consume as acquire, and C++17 discourages anything else.
    NamedOrder{"memory_order_consume", Order::acquire}};

struct NamedScope {
  std::string_view name;
  Scope scope = Scope::system;
};
inline constexpr std::array scopes{NamedScope{"memory_scope_work_item", Scope::wave},
                                   NamedScope{"memory_scope_sub_group", Scope::wave},
                                   NamedScope{"memory_scope_work_group", Scope::wg},
                                   NamedScope{"memory_scope_device", Scope::agent},
                                   NamedScope{"memory_scope_all_svm_devices", Scope::system},
                                   NamedScope{"memory_scope_all_devices", Scope::system}};

template <typename Table>
Names names_of(const Table& table) {
  Names names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

template <typename Table>
auto find_in(const Table& table, std::string_view name) {
  return std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.name == name; });
}

}  // namespace lockstep::litmus
