#include "tests/together/simulation/atlas.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <queue>

#include "tests/together/simulation/random.h"

namespace upgrader::simulation {

using test::EventClass;
using test::EventKind;
using test::Speaker;

// ---- the class KeyTable

void KeyTable::reserve(std::size_t count) {
  std::size_t size = 16;
  while (size < count * 2)
    size *= 2;
  slots_.assign(size, Slot{});
  mask_ = size - 1;
}

bool KeyTable::add(Key key, std::uint32_t value) {
  std::size_t at = key & mask_;
  while (slots_[at].value != nothing) {
    if (slots_[at].key == key) return false;
    at = (at + 1) & mask_;
  }
  slots_[at] = {key, value};
  return true;
}

std::uint32_t KeyTable::find(Key key) const {
  std::size_t at = key & mask_;
  while (slots_[at].value != nothing) {
    if (slots_[at].key == key) return slots_[at].value;
    at = (at + 1) & mask_;
  }
  return nothing;
}

Key longer(Key key, EventClass step) {
  Key mixed = (key ^ (step + 1U)) * 0xbf58476d1ce4e5b9U;
  return mixed ^ (mixed >> 29U);
}

// ---- the events that the code in upgrader/shell allows

Speaker dies_in(EventClass event) {
  const EventKind kind = test::kind_of(event);
  const bool last = kind == EventKind::last_stopped || kind == EventKind::last_unfit ||
                    kind == EventKind::last_ready;
  return last ? test::speaker_of(event) : Speaker::nobody;
}

bool is_possible(const test::Map::Place& place, EventClass event, Speaker dying) {
  const EventKind kind = test::kind_of(event);
  const Speaker speaker = test::speaker_of(event);
  if (place.ended) return false;
  // At any time, the judge (judge.h) may deliver an event about an agent that the supervisor does
  // not know.
  if (speaker == Speaker::stranger) return true;
  if (dying != Speaker::nobody) {
    const bool exits = kind == EventKind::exits || kind == EventKind::is_killed;
    const bool word = dies_in(event) == dying || kind == EventKind::stray;
    return speaker == dying && (exits || word);
  }
  constexpr int contradictory = static_cast<int>(EventKind::first_upgrade) + 5;
  if (static_cast<int>(kind) == contradictory) return false;
  switch (kind) {
    case EventKind::limit_unseen:
    case EventKind::close_limit_unseen:
    case EventKind::heartbeat_limit_unseen:
    case EventKind::hello_limit_unseen:
    case EventKind::upgrade_limit_unseen:
      return false;
    case EventKind::takes_activate:
      return speaker == place.promised;
    default:
      return true;
  }
}

namespace {

bool is_exit(EventClass event) {
  const EventKind kind = test::kind_of(event);
  return kind == EventKind::exits || kind == EventKind::is_killed;
}

// Returns the length of a move on the map of the supervisor's states, for the search number
// `choice`. In search 0, all moves are equally long. In the other searches the lengths are random,
// so that each search finds different shortest ways.
std::uint64_t length_of(std::size_t choice, std::uint32_t at, EventClass event) {
  if (choice == 0) return 1;
  const bool is_avoided = Random(choice * 256 + event).chance(25);
  return (is_avoided ? 8 : 1) * (1 + Random(choice << 32U | at).below(4));
}

// Searches the map (the supervisor's states and the moves between them) for the shortest way from
// the first state to each other state. Uses only moves that the code in upgrader/shell allows.
class AllowedWalk {
 public:
  AllowedWalk(Sheet& sheet, std::size_t choice)
      : sheet_(sheet), ways_(sheet.ways[choice]), choice_(choice) {
    ways_.assign(sheet.map.places.size() * speakers, {});
    lengths_.assign(ways_.size(), std::numeric_limits<std::uint64_t>::max());
  }

  void run() {
    arrive(0, Speaker::nobody, 0, {});
    while (!open_.empty()) {
      const auto [length, state] = open_.top();
      open_.pop();
      if (length == lengths_[state]) go_on(state);
    }
  }

 private:
  static constexpr std::size_t speakers = 4;

  void go_on(std::size_t state) {
    const auto from = static_cast<std::uint32_t>(state / speakers);
    const auto dying = static_cast<Speaker>(state % speakers);
    sheet_.place_allowed[from] = true;
    for (std::uint32_t at = sheet_.first_move[from]; at < sheet_.first_move[from + 1]; ++at) {
      const test::Move& move = sheet_.map.moves[at];
      if (!is_possible(sheet_.map.places[from], move.steps[0], dying)) continue;
      sheet_.allowed[at] = true;
      if (!move.whole) continue;
      Speaker now_dying = dying;
      if (dies_in(move.steps[0]) != Speaker::nobody) now_dying = dies_in(move.steps[0]);
      if (is_exit(move.steps[0])) now_dying = Speaker::nobody;
      if (test::speaker_of(move.steps[0]) == Speaker::stranger) now_dying = dying;
      const std::uint64_t length = lengths_[state] + length_of(choice_, at, move.steps[0]);
      arrive(move.to, now_dying, length, {at, dying});
    }
  }

  void arrive(std::uint32_t place, Speaker dying, std::uint64_t length, Sheet::LastMove way) {
    const std::size_t state = std::size_t{place} * speakers + static_cast<std::size_t>(dying);
    if (lengths_[state] <= length) return;
    lengths_[state] = length;
    ways_[state] = way;
    open_.emplace(length, state);
  }

  using Open = std::pair<std::uint64_t, std::size_t>;
  Sheet& sheet_;
  std::vector<Sheet::LastMove>& ways_;
  std::size_t choice_;
  std::vector<std::uint64_t> lengths_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

void mark_allowed(Sheet& sheet) {
  sheet.allowed.assign(sheet.map.moves.size(), false);
  sheet.place_allowed.assign(sheet.map.places.size(), false);
  for (std::size_t choice = 0; choice < Sheet::choices; ++choice)
    AllowedWalk(sheet, choice).run();
}

std::unique_ptr<Sheet> draw_sheet(int policy) {
  auto sheet = std::make_unique<Sheet>();
  const test::Exploration walk =
      test::explore(test::explored_policy(policy), test::plain_step, 5, nullptr, &sheet->map);
  if (!walk.violations.empty()) std::abort();
  sheet->cells = walk.cells;
  test::Map& map = sheet->map;
  // The exploration tries all moves of one state before the moves of the next state. So the moves
  // of a state are neighbors in the list of moves.
  sheet->first_move.assign(map.places.size() + 1, static_cast<std::uint32_t>(map.moves.size()));
  for (std::size_t at = map.moves.size(); at-- > 0;)
    sheet->first_move[map.moves[at].from] = static_cast<std::uint32_t>(at);
  for (std::size_t at = map.places.size(); at-- > 0;)
    sheet->first_move[at] = std::min(sheet->first_move[at], sheet->first_move[at + 1]);
  sheet->places.reserve(map.places.size());
  for (std::size_t at = 0; at < map.places.size(); ++at) {
    if (!sheet->places.add(map.places[at].key, static_cast<std::uint32_t>(at))) std::abort();
  }
  sheet->edges.reserve(map.moves.size());
  for (std::size_t at = 0; at < map.moves.size(); ++at) {
    const test::Move& move = map.moves[at];
    Key key = map.places[move.from].key;
    for (std::size_t step = 0; step < move.length; ++step)
      key = longer(key, move.steps[step]);
    if (!sheet->edges.add(key, static_cast<std::uint32_t>(at))) {
      std::abort();
    }
  }
  mark_allowed(*sheet);
  return sheet;
}

}  // namespace

Atlas::Atlas() {
  std::vector<std::future<std::unique_ptr<Sheet>>> drawn;
  for (int policy = 0; policy < test::all_policies; ++policy)
    drawn.push_back(std::async(std::launch::async, draw_sheet, policy));
  for (auto& sheet : drawn)
    sheets_.push_back(sheet.get());
}

// ---- the class Visits

Visits::Visits(const Atlas& atlas) : atlas_(atlas) {
  for (int policy = 0; policy < test::all_policies; ++policy) {
    begins_.push_back(size_);
    size_ += places(policy) + atlas.sheet(policy).map.moves.size() + 1'024;
  }
  void* shared = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) std::abort();
  bytes_ = static_cast<std::uint8_t*>(shared);
}

Visits::~Visits() {
  ::munmap(bytes_, size_);
}

std::size_t Visits::places(int policy) const {
  return atlas_.sheet(policy).map.places.size();
}

std::uint8_t& Visits::at(int policy, std::size_t offset) const {
  return bytes_[begins_[static_cast<std::size_t>(policy)] + offset];
}

namespace {

std::size_t cell_offset(Phase phase, std::size_t event) {
  return static_cast<std::size_t>(phase) * std::variant_size_v<Event> + event;
}

}  // namespace

void Visits::mark_cell(int policy, Phase phase, std::size_t event) {
  const std::size_t behind = places(policy) + atlas_.sheet(policy).map.moves.size();
  at(policy, behind + cell_offset(phase, event)) = 1;
}

bool Visits::is_missed(int policy, std::uint32_t move) const {
  return atlas_.sheet(policy).allowed[move] && at(policy, places(policy) + move) == 0;
}

std::size_t Visits::missed_from(int policy, std::uint32_t place) const {
  const Sheet& sheet = atlas_.sheet(policy);
  std::size_t count = 0;
  for (std::uint32_t move = sheet.first_move[place]; move < sheet.first_move[place + 1]; ++move)
    count += is_missed(policy, move) ? 1 : 0;
  return count;
}

Visits::Share Visits::states() const {
  Share share;
  for (int policy = 0; policy < test::all_policies; ++policy) {
    for (std::size_t place = 0; place < places(policy); ++place) {
      const bool allowed = atlas_.sheet(policy).place_allowed[place];
      const bool visited = at(policy, place) != 0;
      ++share.all;
      share.all_visited += visited ? 1 : 0;
      share.allowed += allowed ? 1 : 0;
      share.allowed_visited += allowed && visited ? 1 : 0;
    }
  }
  return share;
}

Visits::Share Visits::edges() const {
  Share share;
  for (int policy = 0; policy < test::all_policies; ++policy) {
    const Sheet& sheet = atlas_.sheet(policy);
    for (std::size_t move = 0; move < sheet.map.moves.size(); ++move) {
      const bool visited = at(policy, places(policy) + move) != 0;
      ++share.all;
      share.all_visited += visited ? 1 : 0;
      share.allowed += sheet.allowed[move] ? 1 : 0;
      share.allowed_visited += sheet.allowed[move] && visited ? 1 : 0;
    }
  }
  return share;
}

// Counts pairs of a phase and an event. Each policy (a set of the upgrader's options) has a map of
// its own. A pair that occurs on several of these maps is counted once.
Visits::Share Visits::cells() const {
  std::set<std::pair<Phase, std::size_t>> all, allowed, visited;
  for (int policy = 0; policy < test::all_policies; ++policy) {
    const Sheet& sheet = atlas_.sheet(policy);
    const std::size_t behind = places(policy) + sheet.map.moves.size();
    for (const auto& cell : sheet.cells) {
      all.insert(cell);
      if (cell.first != Phase::ended) allowed.insert(cell);
      if (at(policy, behind + cell_offset(cell.first, cell.second)) != 0) visited.insert(cell);
    }
  }
  Share share;
  share.all = all.size();
  share.all_visited = visited.size();
  share.allowed = allowed.size();
  for (const auto& cell : visited)
    share.allowed_visited += allowed.contains(cell) ? 1 : 0;
  return share;
}

std::string Visits::missed(std::size_t kinds_max) const {
  std::map<EventClass, std::uint64_t> counts;
  for (int policy = 0; policy < test::all_policies; ++policy) {
    const Sheet& sheet = atlas_.sheet(policy);
    for (std::uint32_t move = 0; move < sheet.map.moves.size(); ++move) {
      if (is_missed(policy, move)) ++counts[sheet.map.moves[move].steps[0]];
    }
  }
  std::vector<std::pair<std::uint64_t, EventClass>> most;
  for (const auto& [kind, count] : counts)
    most.emplace_back(count, kind);
  std::sort(most.rbegin(), most.rend());
  std::string text;
  for (std::size_t at = 0; at < most.size() && at < kinds_max; ++at) {
    text += (at == 0 ? "" : "; ") + test::name_of_class(most[at].second) + " " +
            std::to_string(most[at].first);
  }
  return text;
}

// ---- the class Follower, which follows a run of the simulation on the map

void Follower::begin(const Policy& policy, Duration exit_grace) {
  policy_ = test::which_policy(policy);
  const State fresh;
  key_ = test::key_of_any(fresh, test::Watcher(exit_grace));
  place_ = policy_ ? atlas_.sheet(*policy_).places.find(key_) : KeyTable::nothing;
  begins_ = true;
}

void Follower::before(const Supervisor& supervisor, const Event& event, Time now) {
  if (!policy_) return;
  if (begins_) {
    chain_ = key_;
    known_ = place_ != KeyTable::nothing;
  }
  if (visits_ != nullptr) visits_->mark_cell(*policy_, supervisor.phase(), event.index());
  const EventClass step = test::class_of(supervisor.state(), event, now);
  if (step == test::other_event) known_ = false;
  if (!known_) return;
  chain_ = longer(chain_, step);
  const std::uint32_t move = atlas_.sheet(*policy_).edges.find(chain_);
  if (move != KeyTable::nothing && visits_ != nullptr) visits_->mark_edge(*policy_, move);
}

void Follower::after(const Supervisor& supervisor, const test::Watcher& watcher) {
  if (!policy_) return;
  begins_ = supervisor.state().pending == Pending::nothing;
  if (!begins_) return;
  key_ = test::key_of_any(supervisor.state(), watcher);
  place_ = atlas_.sheet(*policy_).places.find(key_);
  if (place_ != KeyTable::nothing && visits_ != nullptr) visits_->mark_place(*policy_, place_);
}

}  // namespace upgrader::simulation
