// fleet-agent join: makes this machine a node of a cell. JoinTalk decides how to ask the
// controllers, and JoinPlace has the files on this machine. join_place.cc implements JoinPlace.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/owned_fd.h"
#include "base/time.h"
#include "fleet/agent/options.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/time.h"

namespace fleet {

// Reads the token, asks the controllers that the token names, and writes the certificate and
// settings that they send. Returns the exit status, which is one of those below. After a failure,
// the same call continues where it stopped.
[[nodiscard]] int join_cell(const JoinOptions& options);

// The exit statuses of `fleet-agent join`.
inline constexpr int join_done = 0;
// The machine was refused, or something failed on this machine.
inline constexpr int join_failed = 1;
inline constexpr int join_usage = 2;
inline constexpr int join_unreachable = 3;  // no controller has answered
inline constexpr int join_waiting = 4;      // no person has approved the machine so far

// The answer of one controller, or the reason why no answer came.
struct JoinReply {
  long status = 0;  // the HTTP status of the answer; 0 if no answer came
  std::string body = {};
  std::string error = {};  // why no answer came; empty if an answer came
  // True if the controller's certificate has another authority than the token.
  bool other_authority = false;
};

// The next step: send the request to the controller with this index in the token's list of
// controllers.
struct JoinAsk {
  std::size_t controller = 0;
};
struct JoinPause {
  upgrader::Duration time{0};
};
// The final step after success: `answer` contains the machine's certificate.
struct JoinHave {
  JoinAnswer answer = {};
};
struct JoinEnd {
  int status = join_failed;
  std::string words = {};
};
using JoinNext = std::variant<JoinAsk, JoinPause, JoinHave, JoinEnd>;

// Decides how a machine that wants to join asks the controllers of a cell: which controller next,
// when, and what an answer means. Only decides: join_cell() sends the requests.
class JoinTalk {
 public:
  // The machine stops asking when the time `patience` has passed, counted from `now`.
  JoinTalk(std::size_t controllers, upgrader::Duration patience, upgrader::Time now)
      : controllers_(controllers), until_(now + patience) {}

  // Returns the next step. Called at the beginning and after each pause.
  [[nodiscard]] JoinNext next(upgrader::Time now) const;
  // Handles a controller's answer to the request, and returns the next step.
  [[nodiscard]] JoinNext take(const JoinReply& reply, upgrader::Time now);

  // Returns a message for people who watch the machine wait, or an empty text. Each message is
  // returned once.
  [[nodiscard]] std::string news();

 private:
  [[nodiscard]] JoinNext pause(upgrader::Time now);
  [[nodiscard]] JoinEnd end() const;

  std::size_t controllers_;
  upgrader::Time until_;
  std::size_t controller_ = 0;
  int tries_ = 0;
  int unknown_ = 0;         // number of answers that the token is unknown
  std::string waits_ = {};  // the message of a controller that told the machine to wait; or empty
  std::string trouble_ = {};
  bool other_authority_ = false;
  std::string told_ = {};
};

// Reads and writes the files of a machine that joins a cell: its key, its certificate, the
// authority's certificate, the public keys that verify releases, and the settings of its service.
// Each file is written as a whole and synced to disk. The certificate is written last, so a machine
// that has a certificate has all the files.
class JoinPlace {
 public:
  // `root` is a directory that stands for `/`; empty means the real `/`.
  explicit JoinPlace(std::string root, std::string node);

  // Makes the directories, and takes a lock, so that only one process joins at a time. Returns an
  // empty text on success, or else the reason for the failure.
  [[nodiscard]] std::string open();
  // Returns why this machine cannot join with this token under this name, or an empty text if it
  // can. It cannot join if it already has a certificate for another name, the certificate of
  // another cell's authority, or settings for another name.
  [[nodiscard]] std::string why_taken(const TokenText& token) const;
  // Reads the machine's key, or makes one if there is none. If that fails, returns an empty text,
  // and sets `trouble` to the reason.
  [[nodiscard]] std::string key(std::string& trouble) const;
  // Returns whether the machine has a certificate that is valid now.
  [[nodiscard]] bool has_joined(UnixSeconds now) const;

  // Writes all files and syncs them to disk. Returns an empty text on success, or else the reason
  // for the failure.
  [[nodiscard]] std::string settle(const TokenText& token, const std::string& authority,
                                   const JoinAnswer& answer) const;

 private:
  [[nodiscard]] std::string path(const std::string& name) const { return files_ + "/" + name; }
  [[nodiscard]] std::string settings(const TokenText& token) const;
  [[nodiscard]] bool has_other_release_keys(const JoinAnswer& answer) const;
  [[nodiscard]] std::string write_release_keys(const TokenText& token,
                                               const JoinAnswer& answer) const;

  std::string files_;     // the directory for the machine's certificates
  std::string defaults_;  // the directory for the settings of services
  std::string node_;
  upgrader::OwnedFd lock_ = {};
};

}  // namespace fleet
