// Between the store's plain data and etcd's messages. Pure; the bytes are protobuf's to distrust,
// what they say is distrusted here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/store/member_status.h"
#include "fleet/store/store.h"

namespace fleet::etcd_messages {

// So many records are asked for at a time: 100 of 64 KiB stay below grpc_message_bytes_max.
inline constexpr int page_records = 100;

// Keys from `from` on (which is below `keys`), as they were at `revision`; 0: as they are.
[[nodiscard]] std::string read(const Keys& keys, const std::string& from, Revision revision);
struct Page {
  Reading reading = {};
  bool more = false;
};
[[nodiscard]] std::optional<Page> page(std::string_view bytes);

[[nodiscard]] std::string transaction(const Transaction& transaction);
[[nodiscard]] std::optional<Outcome> outcome(std::string_view bytes);

[[nodiscard]] std::string grant(std::chrono::seconds ttl);
[[nodiscard]] std::optional<Lease> granted(std::string_view bytes);
[[nodiscard]] std::string keep_alive(LeaseId lease);
[[nodiscard]] std::optional<LeaseState> kept_alive(std::string_view bytes);
[[nodiscard]] std::string revoke(LeaseId lease);

[[nodiscard]] std::string watch(const Keys& keys, Revision from);
// Any member that works answers this at once.
[[nodiscard]] std::string progress();
struct WatchAnswer {
  Changes changes = {};
  bool more = false;  // the rest of this revision comes with the next answer
  bool canceled = false;
  Revision compacted = 0;  // not 0: that is why it was canceled
  std::string reason = {};
};
[[nodiscard]] std::optional<WatchAnswer> watch_answer(std::string_view bytes);

// ---- beside the records

[[nodiscard]] std::optional<MemberStatus> member_status(std::string_view bytes);
[[nodiscard]] std::string add_role(const std::string& role);
[[nodiscard]] std::string permit(const std::string& role, const Keys& keys, bool writes);
// One without a password, who is known by his certificate alone.
[[nodiscard]] std::string add_user(const std::string& user);
[[nodiscard]] std::string delete_user(const std::string& user);
[[nodiscard]] std::string delete_role(const std::string& role);
// The next bytes of a snapshot.
[[nodiscard]] std::optional<std::string> snapshot_part(std::string_view bytes);
[[nodiscard]] std::string grant_role(const std::string& user, const std::string& role);

}  // namespace fleet::etcd_messages
