// Every constraint is kept as the first cycle at which a command is allowed: of a bank, of its group, of the
// whole channel. A decision finds, for each request that may go, the next command that it needs and when that
// is allowed, and takes the earliest; if that lies ahead, the channel waits for it, or for another request.
#include "refimpl/dram.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::dram {

Place place_of(const Organization& organization, unsigned block_bytes, std::uint64_t block) {
  const std::uint64_t group = block % organization.bank_groups;
  const std::uint64_t in_group = block / organization.bank_groups / (organization.row_bytes / block_bytes);
  const std::uint64_t row = in_group / organization.banks;
  std::uint64_t bank = in_group % organization.banks * organization.bank_groups + group;
  const std::uint64_t all = std::uint64_t{organization.banks} * organization.bank_groups;
  if (organization.hashed_banks) bank ^= row % all;
  return {static_cast<std::uint32_t>(bank), static_cast<std::uint32_t>(row)};
}

Channel::Channel(const Device& device)
    : device_(device),
      banks_(std::size_t{device.organization.bank_groups} * device.organization.banks),
      groups_(device.organization.bank_groups),
      refresh_(device.timings.nREFI == 0 ? never : device.timings.nREFI) {
  queue_.reserve(device.scheduling.queue);
}

void Channel::push(Cycle now, std::uint32_t tag, std::uint64_t block, Place place, unsigned bytes,
                   bool write) {
  assert(!full());
  // Refreshes that were due while nothing waited have been performed meanwhile.
  if (queue_.empty() && refresh_ != never && now >= refresh_ + device_.timings.nREFI) {
    const Cycle missed = (now - refresh_) / device_.timings.nREFI;
    refresh_ += missed * device_.timings.nREFI;
    counts_.refreshes += missed;
  }
  const unsigned burst = device_.organization.burst_bytes();
  const auto behind = static_cast<std::uint32_t>(std::count_if(
      queue_.begin(), queue_.end(), [&](const Request& older) { return older.block == block; }));
  queue_.push_back({now, block, tag, place.bank, place.row, std::max(1U, (bytes + burst - 1) / burst), behind,
                    write, Row::untouched});
  writes_ += write ? 1 : 0;
  ++(write ? counts_.writes : counts_.reads);
  counts_.most_queued = std::max(counts_.most_queued, queue_.size());
  clock_ = std::max(clock_, now);
  const Cycle soonest = std::max(clock_, std::min(column_command_, row_command_));
  next_ = queue_.size() == 1 ? soonest : std::min(next_, soonest);
}

void Channel::advance(Cycle now, std::vector<Done>& done) {
  while (!queue_.empty()) {
    if (refresh_ <= now) {
      refresh();
      continue;
    }
    const Decision decision = decide();
    if (decision.at > now) {
      next_ = decision.at;
      return;
    }
    clock_ = decision.at;
    issue(decision, done);
  }
}

// Reads go first until enough writes wait; a request that is overdue has its way.
void Channel::choose_direction(bool overdue) {
  const Scheduling& s = device_.scheduling;
  const std::size_t reads = queue_.size() - writes_;
  if (overdue) {
    draining_ = queue_.front().write;
  } else if (draining_) {
    draining_ = writes_ > 0 && (writes_ > s.write_low || reads == 0);
  } else {
    draining_ = writes_ >= s.write_high || reads == 0;
  }
  // A read may wait for a write to its block.
  const bool any = std::any_of(queue_.begin(), queue_.end(), [&](const Request& request) {
    return request.write == draining_ && request.behind == 0;
  });
  if (!any) draining_ = !draining_;
}

Channel::Decision Channel::decide() {
  const bool in_order = device_.scheduling.policy == Policy::fcfs;
  const bool overdue = clock_ - queue_.front().arrival >= device_.scheduling.age_cap;
  const std::size_t count = in_order ? 1 : queue_.size();
  if (!in_order) choose_direction(overdue);
  const auto eligible = [&](const Request& request) {
    return in_order || (request.write == draining_ && request.behind == 0);
  };
  ++decisions_;
  // Row hits of the bank that an overdue request waits for would keep it waiting.
  const Request& oldest = queue_.front();
  const bool claims = overdue && eligible(oldest) && banks_[oldest.bank].row != oldest.row;
  for (std::size_t i = 0; i < count; ++i) {
    const Request& request = queue_[i];
    Bank& bank = banks_[request.bank];
    if (bank.row == request.row && eligible(request) && !(claims && request.bank == oldest.bank))
      bank.hit_in = decisions_;
  }
  Decision best;
  for (std::size_t i = 0; i < count; ++i) {
    const Request& request = queue_[i];
    if (!eligible(request)) continue;
    Bank& bank = banks_[request.bank];
    Decision next{0, overdue && i == 0 ? 0 : 2, i, request.write ? Command::write : Command::read};
    if (bank.row == request.row) {
      if (bank.hit_in != decisions_) continue;
      next.at = std::max(column_command_, column_at(request));
    } else {
      // The oldest that misses decides about the bank's row, and only when nobody hits it.
      if (bank.hit_in == decisions_ || bank.other_in == decisions_) continue;
      bank.other_in = decisions_;
      ++next.rank;
      next.command = bank.row == closed ? Command::activate : Command::precharge;
      next.at = std::max(row_command_, bank.row == closed ? activate_at(request.bank) : bank.precharge);
    }
    next.at = std::max(next.at, clock_);
    if (next.at < best.at || (next.at == best.at && next.rank < best.rank)) best = next;
  }
  assert(best.at != never);
  return best;
}

Cycle Channel::column_at(const Request& request) const {
  const Bank& bank = banks_[request.bank];
  const Group& group = group_of(request.bank);
  return request.write ? std::max({bank.write, group.write, all_.write})
                       : std::max({bank.read, group.read, all_.read});
}

Cycle Channel::activate_at(std::uint32_t bank) const {
  const Cycle fourth = last_activates_[next_activate_];
  const Cycle window = fourth == 0 ? 0 : fourth - 1 + device_.timings.nFAW;
  return std::max({banks_[bank].activate, group_of(bank).activate, all_.activate, window});
}

void Channel::issue(const Decision& decision, std::vector<Done>& done) {
  Request& request = queue_[decision.request];
  Bank& bank = banks_[request.bank];
  const Cycle at = decision.at;
  const bool column = decision.command == Command::read || decision.command == Command::write;
  const bool shared = device_.organization.command_buses == 1;
  if (column || shared) column_command_ = at + 1;
  if (!column || shared) row_command_ = at + 1;
  report(decision.command, at, request.bank, request.row);
  if (request.first == Row::untouched) {
    request.first = Row::touched;
    switch (decision.command) {
      case Command::activate:
        ++counts_.row_misses;
        break;
      case Command::precharge:
        ++counts_.row_conflicts;
        break;
      default:
        ++counts_.row_hits;
    }
  }
  switch (decision.command) {
    case Command::activate:
      activate(request, at);
      return;
    case Command::precharge:
      bank.row = closed;
      bank.activate = std::max(bank.activate, at + device_.timings.nRP);
      return;
    default:
      transfer(request, at);
      if (--request.bursts == 0) finish(decision.request, at, done);
  }
}

void Channel::activate(const Request& request, Cycle at) {
  const Timings& t = device_.timings;
  Bank& bank = banks_[request.bank];
  bank.row = request.row;
  bank.activate = at + t.nRC;
  bank.precharge = at + t.nRAS;
  bank.read = at + t.nRCDRD;
  bank.write = at + t.nRCDWR;
  group_of(request.bank).activate = at + t.nRRDL;
  all_.activate = at + t.nRRDS;
  last_activates_[next_activate_] = at + 1;
  next_activate_ = (next_activate_ + 1) % 4;
  ++counts_.activates;
}

// A column command and its burst.
void Channel::transfer(Request& request, Cycle at) {
  const Timings& t = device_.timings;
  Bank& bank = banks_[request.bank];
  Group& group = group_of(request.bank);
  const auto not_before = [](Cycle& when, Cycle cycle) { when = std::max(when, cycle); };
  const Cycle next = at + std::max(t.nCCDS, t.nBL);
  if (request.write) {
    const Cycle end = at + t.nCWL + t.nBL;
    not_before(bank.precharge, end + t.nWR);
    not_before(group.write, at + t.nCCDL);
    not_before(group.read, end + t.nWTRL);
    not_before(all_.write, next);
    not_before(all_.read, end + t.nWTRS);
  } else {
    const Cycle turned = at + t.nCL + t.nBL + t.nRTW;
    not_before(bank.precharge, at + t.nRTP);
    not_before(group.read, at + t.nCCDL);
    not_before(all_.read, next);
    not_before(all_.write, std::max(next, turned > t.nCWL ? turned - t.nCWL : 0));
  }
  counts_.busy += t.nBL;
}

void Channel::finish(std::size_t request, Cycle at, std::vector<Done>& done) {
  const Timings& t = device_.timings;
  const Request ended = queue_[request];
  counts_.queued += at - ended.arrival;
  writes_ -= ended.write ? 1 : 0;
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(request));
  for (std::size_t i = request; i < queue_.size(); ++i) queue_[i].behind -= queue_[i].block == ended.block;
  done.push_back({ended.tag, ended.write, at + (ended.write ? t.nCWL : t.nCL) + t.nBL});
}

// All banks at once: they are closed as soon as they may be, and stay closed for nRFC.
void Channel::refresh() {
  const Timings& t = device_.timings;
  Cycle close = std::max({refresh_, row_command_, column_command_});
  bool any_open = false;
  for (const Bank& bank : banks_) {
    if (bank.row == closed) continue;
    any_open = true;
    close = std::max(close, bank.precharge);
  }
  Cycle begin = close;
  if (any_open) {
    report(Command::precharge_all, close);
    begin = close + t.nRP;
  }
  for (const Bank& bank : banks_) begin = std::max(begin, bank.activate);
  report(Command::refresh, begin);
  for (Bank& bank : banks_) {
    bank.row = closed;
    bank.activate = begin + t.nRFC;
  }
  row_command_ = column_command_ = begin + 1;
  clock_ = std::max(clock_, begin);
  refresh_ += t.nREFI;
  ++counts_.refreshes;
}

}  // namespace lockstep::dram
