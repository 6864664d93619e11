#include "tests/together/simulation/goals.h"

namespace upgrader::simulation {

using test::EventKind;
using test::Speaker;

bool is_last_word(test::EventClass event) {
  return dies_in(event) != Speaker::nobody && test::speaker_of(event) != Speaker::stranger;
}

bool is_speech(test::EventClass event) {
  const EventKind kind = test::kind_of(event);
  return kind <= EventKind::last_upgrade || kind == EventKind::unknown ||
         kind == EventKind::malformed_upgrade || kind == EventKind::malformed ||
         kind == EventKind::stray;
}

bool closes(test::EventClass event) {
  const EventKind kind = test::kind_of(event);
  return kind == EventKind::closes_input || kind == EventKind::closes_output;
}

bool comes_by_the_way(const test::Move& move) {
  const bool changes_nothing = move.whole && move.to == move.from;
  if (!changes_nothing) return false;
  if (test::speaker_of(move.steps[0]) == Speaker::stranger) return true;
  const EventKind kind = test::kind_of(move.steps[0]);
  return kind != EventKind::cancel_at_limit && kind != EventKind::extend_at_limit &&
         !closes(move.steps[0]) && !is_last_word(move.steps[0]);
}

Goals::Goals(const Atlas& atlas) {
  for (int policy = 0; policy < test::all_policies; ++policy) {
    const Sheet& sheet = atlas.sheet(policy);
    for (std::uint32_t move = 0; move < sheet.map.moves.size(); ++move) {
      const test::Move& its = sheet.map.moves[move];
      const bool is_goal = sheet.allowed[move] && its.whole && !comes_by_the_way(its);
      if (!is_goal) continue;
      for (const Speaker dying : {Speaker::nobody, Speaker::incumbent, Speaker::candidate}) {
        const bool possible = is_possible(sheet.map.places[its.from], its.steps[0], dying);
        if (!possible || !sheet.is_reached(its.from, dying)) continue;
        goals_.push_back({policy, move, dying});
        break;
      }
    }
  }
}

Goal Goals::goal(std::uint64_t seed) const {
  // The multiplier is a prime that does not divide the number of goals. So in as many guided seeds
  // as there are goals, each goal comes once, and neighbours in the list do not follow each other.
  return goals_[guided_up_to(seed) * 2'654'435'761U % goals_.size()];
}

}  // namespace upgrader::simulation
