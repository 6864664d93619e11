// Translates between the plain data of fleet/store and etcd's protobuf messages. Protobuf checks
// the encoding of a message, and the functions of this file check the content. This file does no
// input or output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/store/store.h"

namespace fleet::etcd_messages {

// The most records in one answer. Even with records of 64 KiB, such an answer is not longer than
// grpc_message_bytes_max.
inline constexpr std::size_t page_records_max = 1'000;
// The most records in the first answer of a reading: a small number, since the size of the records
// is not known yet.
inline constexpr std::size_t first_page_records = 100;

// Returns a request for at most `limit` records of `keys`, from the key `from` on, at the revision
// `revision`. Revision 0 means the newest revision.
[[nodiscard]] std::string read(const Keys& keys, const std::string& from, Revision revision,
                               std::size_t limit);
// Returns how many records to request next. The smaller the records in `read` are, the more records
// are requested: a cell of 10,000 nodes has 100,000 records.
[[nodiscard]] std::size_t next_page_records(const std::vector<KeyValue>& read);
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
// Returns a heartbeat request (etcd's progress request), which can be sent on the stream of an open
// watch. A member that works answers immediately.
[[nodiscard]] std::string progress();
struct WatchAnswer {
  Changes changes = {};
  bool more = false;  // the next answer has more changes of this revision
  bool canceled = false;
  // If not 0, the watch has ended, because the store has removed the revisions up to this one.
  Revision compacted = 0;
  std::string reason = {};
};
[[nodiscard]] std::optional<WatchAnswer> watch_answer(std::string_view bytes);

// ---- messages that are not about records

[[nodiscard]] std::optional<MemberStatus> member_status(std::string_view bytes);
[[nodiscard]] std::optional<std::vector<StoreMember>> members(std::string_view bytes);
[[nodiscard]] std::string add_role(const std::string& role);
[[nodiscard]] std::string permit(const std::string& role, const Keys& keys, bool writes);
// Returns a request to make a user without a password. The store recognizes such a user only by the
// name in a certificate.
[[nodiscard]] std::string add_user(const std::string& user);
[[nodiscard]] std::string delete_user(const std::string& user);
[[nodiscard]] std::string delete_role(const std::string& role);
// Returns the bytes of the next part of a snapshot.
[[nodiscard]] std::optional<std::string> snapshot_part(std::string_view bytes);
[[nodiscard]] std::string grant_role(const std::string& user, const std::string& role);

}  // namespace fleet::etcd_messages
