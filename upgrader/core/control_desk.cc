#include "upgrader/core/control_desk.h"

#include <string>
#include <utility>

#include "base/form.h"

namespace upgrader {

std::optional<ControlRequested> ControlDesk::judge(ControlRequest request, Chronicle& chronicle) {
  if (chronicle.has_answered(request.name)) return std::nullopt;
  if (request.deed == Deed::upgrade) {
    std::string& id = request.upgrade.id;
    if (id.empty()) {
      do {
        id = "control-{}"_with(++upgrades_);
      } while (!chronicle.what_became_of(id).empty());
    } else if (std::string known = chronicle.what_became_of(id); !known.empty()) {
      chronicle.note_answer(
          {request.name, std::string(name_of(request.deed)), true, std::move(known)});
      return std::nullopt;
    }
  }
  return ControlRequested{std::move(request)};
}

}  // namespace upgrader
