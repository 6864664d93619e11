#include "fleet/model/creation.h"

#include <utility>

namespace fleet {

Creation::Next Creation::next(const KeyValue* found, const Outcome* last) {
  const Denied* denied = last == nullptr ? nullptr : std::get_if<Denied>(last);
  if (denied != nullptr) return NotBegun{denied->reason};
  auto transaction = what_is_left(found);
  if (!transaction) return NotBegun{transaction.reason()};
  const Revision now = found == nullptr ? 0 : found->modified;
  if (last != nullptr && now == before_) {
    const auto* unknown = std::get_if<Unknown>(last);
    if (unknown == nullptr) return NotBegun{refusal_};
    return NotBegun{"it cannot be known whether it will begin: " + unknown->reason,
                    /*is_known=*/false};
  }
  before_ = now;
  if (!transaction.value()) return Begun{};
  if (const auto why = why_not_taken(*transaction.value())) return NotBegun{*why};
  return std::move(*transaction.value());
}

}  // namespace fleet
