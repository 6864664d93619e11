// Translates between the plain data of fleet/store and etcd's protobuf messages. Protobuf checks
// the encoding of messages, and this file their content. Does no input or output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/store/store.h"

namespace fleet::etcd_messages {

// The maximum number of records in an answer, so that even records of 64 KiB fit into
// grpc_message_bytes_max.
inline constexpr std::size_t page_records_max = 1'000;
// The maximum number of records in the first answer of a reading, when their size is still unknown.
inline constexpr std::size_t first_page_records = 100;

// Returns a request for at most `limit` records of `keys`, beginning with the key `from`, at this
// revision. 0 means the newest revision.
[[nodiscard]] std::string read(const Keys& keys, const std::string& from, Revision revision,
                               std::size_t limit);
// Returns how many records to request next: more of them if the records in `read` are small. A cell
// of 10,000 nodes has 100,000 records.
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
// Returns a heartbeat request (etcd's progress request) for the stream of an open watch. A working
// member answers immediately.
[[nodiscard]] std::string progress();
struct WatchAnswer {
  Changes changes = {};
  bool more = false;  // the next answer has more changes of this revision
  bool canceled = false;
  // If not 0, the watch has ended: the store has removed all revisions up to this one.
  Revision compacted = 0;
  std::string reason = {};
};
[[nodiscard]] std::optional<WatchAnswer> watch_answer(std::string_view bytes);

// ---- messages that are not about records

[[nodiscard]] std::optional<MemberStatus> member_status(std::string_view bytes);
[[nodiscard]] std::optional<std::vector<StoreMember>> members(std::string_view bytes);
[[nodiscard]] std::string add_role(const std::string& role);
[[nodiscard]] std::string permit(const std::string& role, const Keys& keys, bool writes);
// Returns a request to make a user without a password, who can only use a certificate.
[[nodiscard]] std::string add_user(const std::string& user);
[[nodiscard]] std::string delete_user(const std::string& user);
[[nodiscard]] std::string delete_role(const std::string& role);
// Returns the bytes of the next part of a snapshot.
[[nodiscard]] std::optional<std::string> snapshot_part(std::string_view bytes);
[[nodiscard]] std::string grant_role(const std::string& user, const std::string& role);

}  // namespace fleet::etcd_messages
