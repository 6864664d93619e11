#include "fleet/store/endpoints.h"

#include <algorithm>
#include <utility>

namespace fleet {
namespace {

constexpr int doublings_max = 5;
constexpr int doublings_of_many = 2;

}  // namespace

Endpoints::Endpoints(std::vector<std::string> urls, std::uint64_t seed, bool is_one_of_many)
    : urls_(std::move(urls)),
      chance_(seed),
      losses_(seed, is_one_of_many ? longest_pause_of_many : longest_pause, first_pause),
      rounds_(seed, is_one_of_many ? Backoff::longest : longest_pause),
      doublings_(is_one_of_many ? doublings_of_many : 0),
      doublings_min_(doublings_) {
  if (urls_.empty()) return;
  const auto first = static_cast<std::ptrdiff_t>(seed % urls_.size());
  std::rotate(urls_.begin(), urls_.begin() + first, urls_.end());
  std::shuffle(urls_.begin() + 1, urls_.end(), chance_);
  present_.url = urls_.front();
  present_.connect_limit = stretched(first_connect_limit);
}

Endpoints::Milliseconds Endpoints::stretched(Milliseconds limit) const {
  const Milliseconds long_limit = limit * (1 << doublings_);
  return std::max(limit, std::min(long_limit, longest_wait));
}

void Endpoints::heard(std::uint64_t connection, Milliseconds now) {
  if (connection != present_.connection) return;
  if (!std::exchange(has_worked_, true)) {
    works_since_ = now;
    tries_in_vain_ = 0;
    rounds_.reset();
  }
  if (cannot_help_ || now - works_since_ < long_life) return;
  works_since_ = now;
  doublings_ = std::max(doublings_ - 1, doublings_min_);
  if (doublings_ == doublings_min_) losses_.reset();
}

void Endpoints::succeeded(std::uint64_t connection) {
  if (connection == present_.connection) cannot_help_ = false;
}

void Endpoints::failed(std::uint64_t connection, Milliseconds now) {
  if (connection != present_.connection || urls_.size() == 1) return;
  if (!std::exchange(cannot_help_, true)) {
    const Milliseconds least = stretched(patience);
    const auto range = static_cast<std::uint64_t>(least.count());
    leaves_at_ = now + least + Milliseconds(static_cast<std::int64_t>(chance_() % range));
  }
  if (now >= leaves_at_) move(now);
}

void Endpoints::broke(std::uint64_t connection, Milliseconds now, bool is_slow) {
  if (connection != present_.connection) return;
  if (has_worked_ || is_slow) return move(now + losses_.next());
  const bool round_is_over = ++tries_in_vain_ % urls_.size() == 0;
  move(now + (round_is_over ? rounds_.next() : Milliseconds(0)));
}

void Endpoints::move(Milliseconds opens) {
  at_ = (at_ + 1) % urls_.size();
  doublings_ = std::min(doublings_ + 1, doublings_max);
  present_ = {.connection = present_.connection + 1,
              .url = urls_[at_],
              .opens = opens,
              .connect_limit = stretched(first_connect_limit)};
  has_worked_ = false;
  cannot_help_ = false;
}

}  // namespace fleet
