#include "fleet/store/etcd_messages.h"

#include <algorithm>

#include "etcd.pb.h"

namespace fleet::etcd_messages {
namespace {

// Returns the end of the range of all keys with this prefix: the smallest key after them. If there
// is none, returns "\0", which means the end of all keys to etcd.
std::string behind(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) {
    prefix.pop_back();
  }
  if (prefix.empty()) return std::string(1, '\0');
  prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

template <class Message>
std::optional<Message> parsed(std::string_view bytes) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  return message;
}

KeyValue plain(const etcd::KeyValue& record) {
  return KeyValue{.key = record.key(),
                  .value = record.value(),
                  .created = record.create_revision(),
                  .modified = record.mod_revision(),
                  .lease = record.lease()};
}

}  // namespace

std::string read(const Keys& keys, const std::string& from, Revision revision, std::size_t limit) {
  etcd::RangeRequest request;
  request.set_key(from);
  if (keys.below) request.set_range_end(behind(keys.key));
  request.set_limit(static_cast<std::int64_t>(limit));
  request.set_revision(revision);
  return request.SerializeAsString();
}

std::size_t next_page_records(const std::vector<KeyValue>& read) {
  constexpr std::size_t bytes_wanted = 1u << 20u;
  const std::size_t last = std::min(read.size(), page_records_max);
  if (last == 0) return first_page_records;
  std::size_t bytes = 0;
  for (std::size_t i = read.size() - last; i < read.size(); ++i) {
    bytes += read[i].key.size() + read[i].value.size();
  }
  const std::size_t average = std::max<std::size_t>(bytes / last, 1);
  return std::clamp(bytes_wanted / average, first_page_records, page_records_max);
}

std::optional<Page> page(std::string_view bytes) {
  const auto response = parsed<etcd::RangeResponse>(bytes);
  if (!response) return std::nullopt;
  Page page{.reading = {.revision = response->header().revision()}, .more = response->more()};
  for (const etcd::KeyValue& record : response->kvs()) {
    page.reading.found.push_back(plain(record));
  }
  return page;
}

std::string transaction(const Transaction& transaction) {
  etcd::TxnRequest request;
  for (const Compare& compare : transaction.compares) {
    etcd::Compare& one = *request.add_compare();
    one.set_key(compare.key);
    switch (compare.of) {
      case Compare::Of::modified:
        one.set_target(etcd::Compare::MOD);
        one.set_mod_revision(compare.revision);
        break;
      case Compare::Of::created:
        one.set_target(etcd::Compare::CREATE);
        one.set_create_revision(compare.revision);
        break;
    }
  }
  for (const Put& put : transaction.puts) {
    etcd::PutRequest& one = *request.add_success()->mutable_request_put();
    one.set_key(put.key);
    one.set_value(put.value);
    one.set_lease(put.lease);
  }
  for (const Erase& erase : transaction.erases) {
    etcd::DeleteRangeRequest& one = *request.add_success()->mutable_request_delete_range();
    one.set_key(erase.key);
    if (erase.subtree) one.set_range_end(behind(erase.key));
  }
  // If there is nothing to write, add a read, so that a majority of the members confirms the
  // answer. Otherwise one member would answer from its own, perhaps outdated copy.
  if (request.success().empty()) {
    etcd::RangeRequest& one = *request.add_success()->mutable_request_range();
    one.set_key(transaction.compares.empty() ? "/" : transaction.compares.front().key);
    one.set_count_only(true);
  }
  return request.SerializeAsString();
}

std::optional<Outcome> outcome(std::string_view bytes) {
  const auto response = parsed<etcd::TxnResponse>(bytes);
  if (!response) return std::nullopt;
  if (!response->succeeded()) return Refused{};
  return Committed{response->header().revision()};
}

std::string grant(std::chrono::seconds ttl) {
  etcd::LeaseGrantRequest request;
  request.set_ttl(ttl.count());
  return request.SerializeAsString();
}

std::optional<Lease> granted(std::string_view bytes) {
  const auto response = parsed<etcd::LeaseGrantResponse>(bytes);
  if (!response || response->id() == 0 || response->ttl() <= 0) return std::nullopt;
  return Lease{response->id(), std::chrono::seconds(response->ttl())};
}

std::string keep_alive(LeaseId lease) {
  etcd::LeaseKeepAliveRequest request;
  request.set_id(lease);
  return request.SerializeAsString();
}

std::optional<LeaseState> kept_alive(std::string_view bytes) {
  const auto response = parsed<etcd::LeaseKeepAliveResponse>(bytes);
  if (!response) return std::nullopt;
  return response->ttl() > 0 ? LeaseState::alive : LeaseState::gone;
}

std::string revoke(LeaseId lease) {
  etcd::LeaseRevokeRequest request;
  request.set_id(lease);
  return request.SerializeAsString();
}

std::string watch(const Keys& keys, Revision from) {
  etcd::WatchRequest request;
  etcd::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key(keys.key);
  if (keys.below) create.set_range_end(behind(keys.key));
  create.set_start_revision(from);
  create.set_fragment(true);
  return request.SerializeAsString();
}

std::string progress() {
  etcd::WatchRequest request;
  request.mutable_progress_request();
  return request.SerializeAsString();
}

std::optional<WatchAnswer> watch_answer(std::string_view bytes) {
  const auto response = parsed<etcd::WatchResponse>(bytes);
  if (!response) return std::nullopt;
  WatchAnswer answer{.more = response->fragment(),
                     .canceled = response->canceled(),
                     .compacted = response->compact_revision(),
                     .reason = response->cancel_reason()};
  for (const etcd::Event& event : response->events()) {
    const bool erased = event.type() == etcd::Event::DELETE;
    answer.changes.changes.push_back(
        erased
            ? Change{KeyValue{.key = event.kv().key(), .modified = event.kv().mod_revision()}, true}
            : Change{plain(event.kv())});
  }
  if (!answer.changes.changes.empty())
    answer.changes.revision = answer.changes.changes.back().now.modified;
  return answer;
}

std::optional<MemberStatus> member_status(std::string_view bytes) {
  const auto response = parsed<etcd::StatusResponse>(bytes);
  if (!response) return std::nullopt;
  return MemberStatus{.id = response->header().member_id(),
                      .version = response->version(),
                      .database_bytes = response->db_size(),
                      .used_bytes = response->db_size_in_use(),
                      .leads = response->leader() == response->header().member_id(),
                      .has_leader = response->leader() != 0,
                      .errors = {response->errors().begin(), response->errors().end()}};
}

std::optional<std::vector<StoreMember>> members(std::string_view bytes) {
  const auto response = parsed<etcd::MemberListResponse>(bytes);
  if (!response) return std::nullopt;
  std::vector<StoreMember> members;
  for (const etcd::Member& member : response->members()) {
    members.push_back({.id = member.id(),
                       .name = member.name(),
                       .urls = {member.clienturls().begin(), member.clienturls().end()}});
  }
  return members;
}

std::string add_role(const std::string& role) {
  etcd::AuthRoleAddRequest request;
  request.set_name(role);
  return request.SerializeAsString();
}

std::string permit(const std::string& role, const Keys& keys, bool writes) {
  etcd::AuthRoleGrantPermissionRequest request;
  request.set_name(role);
  etcd::Permission& permission = *request.mutable_perm();
  permission.set_perm_type(writes ? etcd::Permission::READWRITE : etcd::Permission::READ);
  permission.set_key(keys.key);
  if (keys.below) permission.set_range_end(behind(keys.key));
  return request.SerializeAsString();
}

std::string add_user(const std::string& user) {
  etcd::AuthUserAddRequest request;
  request.set_name(user);
  request.mutable_options()->set_no_password(true);
  return request.SerializeAsString();
}

std::string delete_user(const std::string& user) {
  etcd::AuthUserDeleteRequest request;
  request.set_name(user);
  return request.SerializeAsString();
}

std::string delete_role(const std::string& role) {
  etcd::AuthRoleDeleteRequest request;
  request.set_role(role);
  return request.SerializeAsString();
}

std::optional<std::string> snapshot_part(std::string_view bytes) {
  const auto response = parsed<etcd::SnapshotResponse>(bytes);
  if (!response) return std::nullopt;
  return response->blob();
}

std::string grant_role(const std::string& user, const std::string& role) {
  etcd::AuthUserGrantRoleRequest request;
  request.set_user(user);
  request.set_role(role);
  return request.SerializeAsString();
}

}  // namespace fleet::etcd_messages
