#include "fleet/fleetctl/letting_in.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "fleet/common/identity.h"
#include "fleet/common/roles.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/one_record.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/keys.h"
#include "fleet/model/settings.h"

namespace fleetctl {

int let_in(const Options& options, Asker& asker, const Owner& owner,
           const fleet::IssuedCertificate& issued) {
  const std::string key = fleet::key_of(fleet::KeyKind::identity, {owner.kind, owner.who});
  OneRecord<fleet::Identity> before;
  if (const int status = read_one(asker, key, before); status != exit_done) return status;
  fleet::Identity identity = before.record.value_or(fleet::Identity{});
  const auto is_this = [&issued](const auto& one) { return one.serial == issued.serial; };
  const bool is_recorded =
      std::any_of(identity.certificates.begin(), identity.certificates.end(), is_this);
  if (is_recorded && !identity.revoked.empty()) {
    complain(fleet::certificate_name(owner.kind, owner.who) + " was revoked at " +
             identity.revoked);
    return exit_refused;
  }
  if (!is_recorded) {
    if (identity.since.empty()) identity.since = fleet::time_text();
    identity = with_certificate(std::move(identity), issued, std::time(nullptr));
    const int status =
        write(asker, key, fleet::write_record(identity), before.revision,
              note_of(options, "identity/" + owner.kind + "/" + owner.who, "is enrolled"));
    if (status != exit_done) return status;
  }
  if (const auto trouble = asker.grant(fleet::permissions_of(owner.kind, owner.who)))
    return unreachable(*trouble);
  return exit_done;
}

int name_controllers(const Options& options, Asker& asker, const std::vector<std::string>& urls) {
  OneRecord<fleet::Settings> set;
  const int status = read_one(asker, fleet::key_of(fleet::KeyKind::settings), set);
  if (status != exit_done) return status;
  if (set.record && cell_settings(*set.record).controllers == urls) return exit_done;
  Options wish = options;
  wish.setting = "controllers";
  wish.value.clear();
  for (const std::string& url : urls) {
    wish.value += (wish.value.empty() ? "" : ",") + url;
  }
  return set_setting(wish, asker);
}

int secure_store(Asker& asker) {
  if (const auto trouble = asker.grant({.user = "root", .all = true})) return unreachable(*trouble);
  if (const auto trouble = asker.enable_users()) return unreachable(*trouble);
  return exit_done;
}

}  // namespace fleetctl
