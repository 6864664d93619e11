// A request to an upgrader through the control directory, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace upgraderctl {

// The terms of an upgrade. Their names and values are those in the JSON of a request. If a term is
// absent, the upgrader uses its own default.
struct Terms {
  std::optional<std::string> mode;
  std::optional<std::string> gate;
  std::optional<std::string> commit;
  std::optional<std::int64_t> start_timeout_ms;
  std::optional<std::int64_t> confirm_timeout_ms;
  std::optional<std::int64_t> stop_timeout_ms;
  std::optional<std::int64_t> trial_ms;
  std::optional<std::string> on_unclean_stop;
  std::optional<std::string> fallback;
  bool operator==(const Terms&) const = default;
};

// In each of the requests below, the member `request` is the request's name. The upgrader writes
// the answer to status.json, under this name.

// If `executable` is absent, the new program is the one that AGENT names, an argument on the
// upgrader's command line. The upgrader looks AGENT up when it handles the request.
struct UpgradeRequest {
  std::string request;
  std::string id;
  std::optional<std::string> executable;
  std::optional<std::vector<std::string>> args;
  Terms terms;
};

struct ConfirmRequest {
  std::string request;
  std::string id;
};

struct CancelRequest {
  std::string request;
  std::string id;
  std::optional<std::string> reason;
};

struct CommitRequest {
  std::string request;
  std::string id;
};

struct RollbackRequest {
  std::string request;
  std::string id;
  std::optional<std::string> reason;
};

struct ShutdownRequest {
  std::string request;
};

using Request = std::variant<UpgradeRequest, ConfirmRequest, CancelRequest, CommitRequest,
                             RollbackRequest, ShutdownRequest>;

}  // namespace upgraderctl
