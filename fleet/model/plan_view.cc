// What a plan's driver knows, read from the store, and what is erased when a run is over.
#include "fleet/model/keys.h"
#include "fleet/model/plan_decision.h"
#include "fleet/model/record_text.h"

namespace fleet {

void PlanView::take_all(const Reading& reading) {
  *this = PlanView{.name = name};
  for (const KeyValue& record : reading.found) {
    const auto key = parse_key(record.key);
    if (!key) continue;
    if (key->kind == KeyKind::stop) stopped = true;
    if (key->kind == KeyKind::plan && key->names[0] == name) {
      const auto read = read_record<Plan>(record.value);
      if (read)
        plan = read.value();
      else
        damage = "plan/" + name + " " + read.reason();
      revision = record.modified;
    }
    if (key->kind == KeyKind::node_plan && key->names[1] == name) {
      const auto read = read_record<PlanMember>(record.value);
      members[key->names[0]] = {read ? read.value()
                                     : PlanMember{.phase = MemberPhase::failed,
                                                  .error = true,
                                                  .message = "its record " + read.reason()},
                                record.modified};
    }
    if (key->kind == KeyKind::once && key->names[0] == name) {
      const auto read = read_record<Once>(record.value);
      if (read) once[key->names[1]] = read.value();
    }
  }
}

std::vector<Transaction> recover_plan(const PlanView& view) {
  const PlanState state = view.plan.state;
  const bool ended = state == PlanState::halted || state == PlanState::aborted ||
                     state == PlanState::completed || state == PlanState::created;
  if (view.revision == 0 || !ended) return {};
  const std::string key = key_of(KeyKind::plan, {view.name});
  std::vector<Transaction> parts;
  parts.push_back({.compares = {{.key = key, .revision = view.revision}}});
  for (const std::string& id : view.plan.members) {
    if (parts.back().erases.size() + 4 > operations_max) {
      parts.push_back({.compares = {{.key = key, .revision = view.revision}}});
    }
    parts.back().erases.push_back({.key = key_of(KeyKind::node_plan, {id, view.name})});
  }
  // The plan itself last: until then, reading it again tells that there is something to recover.
  parts.back().erases.push_back(
      {.key = key_below(prefix_of(KeyKind::once) + view.name), .subtree = true});
  parts.back().erases.push_back({.key = key_below(key), .subtree = true});
  parts.back().erases.push_back({.key = key});
  return parts;
}

}  // namespace fleet
