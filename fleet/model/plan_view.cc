// What a plan's driver knows, read from the store, and what is erased when a run is over.
#include "fleet/model/keys.h"
#include "fleet/model/plan_decision.h"
#include "fleet/model/record_text.h"

namespace fleet {

void PlanView::take(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (key->kind == KeyKind::stop) stopped = true;
  if (key->kind == KeyKind::plan && key->names[0] == name) {
    const auto read = read_record<Plan>(record.value);
    plan = read ? read.value() : Plan{};
    damage = read ? "" : "plan/" + name + " " + read.reason();
    revision = record.modified;
  }
  if (key->kind == KeyKind::node_plan && key->names[1] == name) {
    const auto read = read_record<PlanMember>(record.value);
    const PlanMember damaged{.phase = MemberPhase::failed,
                             .error = true,
                             .message = read ? "" : "its record " + read.reason()};
    members[key->names[0]] = {read ? read.value() : damaged, record.modified};
  }
  if (key->kind == KeyKind::once && key->names[0] == name) {
    const auto read = read_record<Once>(record.value);
    if (read) once[key->names[1]] = read.value();
  }
}

void PlanView::take_absent(const std::string& text) {
  const auto key = parse_key(text);
  if (!key) return;
  if (key->kind == KeyKind::stop) stopped = false;
  if (key->kind == KeyKind::plan && key->names[0] == name) revision = 0;
  if (key->kind == KeyKind::node_plan && key->names[1] == name) members.erase(key->names[0]);
  if (key->kind == KeyKind::once && key->names[0] == name) once.erase(key->names[1]);
}

void PlanView::take_all(const Reading& reading) {
  *this = PlanView{.name = name};
  for (const KeyValue& record : reading.found)
    take(record);
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
