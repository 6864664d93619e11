#include "fleet/model/rollout_birth.h"

#include <utility>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {

RolloutBirth::RolloutBirth(std::string id, Rollout wanted, RolloutDraft draft, Revision release)
    : id_(std::move(id)), wanted_(std::move(wanted)), draft_(std::move(draft)), release_(release) {}

std::string RolloutBirth::key() const {
  return key_of(KeyKind::rollout, {id_});
}

RolloutBirth::Next RolloutBirth::next(const KeyValue* found, const Outcome* last) {
  const Denied* denied = last == nullptr ? nullptr : std::get_if<Denied>(last);
  if (denied != nullptr) return NotBegun{denied->reason};
  std::optional<WrittenRollout> written;
  if (found != nullptr) {
    const auto record = read_record<Rollout>(found->value);
    if (!record || record.value().trace != wanted_.trace) {
      return NotBegun{"there is a rollout " + id_ + " already"};
    }
    written = WrittenRollout{record.value(), found->modified};
  }
  const Revision now = written ? written->revision : 0;
  if (last != nullptr && now == before_) {
    if (const auto* unknown = std::get_if<Unknown>(last)) {
      return NotBegun{"it cannot be known whether " + id_ + " will begin: " + unknown->reason,
                      /*is_known=*/false};
    }
    return NotBegun{
        "nothing may begin now (fleetctl stop), the release has changed, or a plan is "
        "called " +
        id_};
  }
  before_ = now;
  auto transaction = next_creation(id_, wanted_, draft_, release_, written);
  if (transaction) return std::move(*transaction);
  return Begun{};
}

}  // namespace fleet
