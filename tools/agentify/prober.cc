#include "tools/agentify/prober.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errno_name.h"

namespace agentify {
namespace {

bool same_time(const timespec& one, const timespec& other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_size == other.st_size &&
         same_time(one.st_mtim, other.st_mtim) && same_time(one.st_ctim, other.st_ctim);
}

}  // namespace

std::optional<std::string> Prober::prepare(uv_loop_t* loop, const ProbeKind& kind,
                                           const Options& options,
                                           const std::vector<std::string>& environment) {
  loop_ = loop;
  kind_ = kind;
  options_ = &options;
  environment_ = &environment;
  if (auto wrong = find_places()) return wrong;
  Trust trust{.ca_file = options.ca_file, .none_needed = options.ca_file == any_certificate};
  const auto told = [this](const ProbeOutcome& outcome) { conclude(outcome); };
  if (!addresses_.empty() && !connection_.prepare(loop, std::move(trust), told)) {
    return "no memory";
  }
  if (!limit_.begin(loop, [this] { took_too_long(); })) return "no timer";
  return std::nullopt;
}

// Finds the addresses to probe, or returns the reason why there are none. With --ca-file=none,
// which accepts any certificate, an https probe may use only loopback addresses. At any other
// address, a different machine could answer in place of the daemon.
std::optional<std::string> Prober::find_places() {
  if (const auto* local = std::get_if<UnixProbe>(&*kind_)) {
    addresses_ = {{.text = local->path, .is_path = true}};
    return std::nullopt;
  }
  const auto* const tcp = std::get_if<TcpProbe>(&*kind_);
  const auto* const http = std::get_if<HttpProbe>(&*kind_);
  if (tcp == nullptr && http == nullptr) return std::nullopt;
  const std::string& host = http != nullptr ? http->url.host : tcp->address.host;
  addresses_ = find_addresses(host);
  if (addresses_.empty()) return "no address is known of " + host;
  if (http == nullptr || !http->url.tls || !options_->ca_file) return std::nullopt;
  if (options_->ca_file == any_certificate) {
    for (const Address& address : addresses_) {
      if (!address.is_loopback) {
        return "--ca-file=none is for the loopback's addresses, and " + host + " is " +
               address.text;
      }
    }
  } else if (::access(options_->ca_file->c_str(), R_OK) != 0) {
    return "--ca-file=" + *options_->ca_file + ": " + in_words(upgrader::SystemError{errno});
  }
  return std::nullopt;
}

void Prober::remember_file() {
  file_.reset();
  if (!kind_) return;
  const auto* const probe = std::get_if<FileProbe>(&*kind_);
  struct stat status {};
  if (probe != nullptr && ::stat(probe->path.c_str(), &status) == 0) file_ = status;
}

ProbeOutcome Prober::look_at_file(bool fresh) const {
  const std::string& path = std::get<FileProbe>(*kind_).path;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return {.words = path + ": " + in_words(upgrader::SystemError{errno})};
  }
  if (fresh && file_ && same_file(*file_, status)) {
    return {.words = path + " is the one of before the start"};
  }
  return {.good = true};
}

void Prober::ask(bool fresh, Told told) {
  told_ = std::move(told);
  wrong_.clear();
  next_ = 0;
  uv_update_time(loop_);
  end_ = uv_now(loop_) + static_cast<std::uint64_t>(probe_time_max.count());
  limit_.set(probe_time_max);
  if (std::holds_alternative<FileProbe>(*kind_)) {
    tell(look_at_file(fresh));
  } else if (const auto* command = std::get_if<CommandProbe>(&*kind_)) {
    run(command->command);
  } else {
    connect();
  }
}

void Prober::run(const std::string& command) {
  command_.emplace();
  if (!command_->begin(command, *options_, {.environment = *environment_}, false)) {
    return tell({.words = "cannot run a command: " + in_words(upgrader::SystemError{errno})});
  }
  const bool watched = watch_.begin(loop_, command_->news_descriptor(), UV_READABLE, [this] {
    look_at_command();
  }) && output_watch_.begin(loop_, command_->output_descriptor(), UV_READABLE, [this] {
    look_at_command();
  });
  if (!watched) tell({.words = "cannot watch a command"});
}

void Prober::look_at_command() {
  const std::optional<CommandOutcome> outcome = command_->look();
  if (outcome) return tell({.good = outcome->good, .words = outcome->words});
  if (command_->output_descriptor() < 0) output_watch_.end();
}

// Probes the next address. The rest of the time limit is divided evenly among this address and the
// addresses after it.
void Prober::connect() {
  uv_update_time(loop_);
  const std::uint64_t left = end_ - std::min(end_, uv_now(loop_));
  limit_.set(Duration{left / (addresses_.size() - next_)});
  const Address& address = addresses_[next_++];
  const auto* const http = std::get_if<HttpProbe>(&*kind_);
  const auto* const tcp = std::get_if<TcpProbe>(&*kind_);
  const auto outcome = http != nullptr
                           ? connection_.request(address, http->url)
                           : connection_.connect(address, tcp == nullptr ? 0 : tcp->address.port);
  if (outcome) conclude(*outcome);
}

// Handles the outcome at one address. A good outcome ends the probe. After a bad outcome, probes
// the next address; after the last address, the probe has failed.
void Prober::conclude(const ProbeOutcome& outcome) {
  if (outcome.good || command_) return tell(outcome);
  std::string words = outcome.words;
  if (addresses_.size() > 1) words = addresses_[next_ - 1].text + ": " + words;
  wrong_ += (wrong_.empty() ? "" : "; ") + words;
  if (next_ < addresses_.size()) return connect();
  tell({.words = wrong_});
}

void Prober::took_too_long() {
  const std::string said = command_ ? command_->last_lines() : "";
  conclude({.words = "no answer in time" + (said.empty() ? "" : ": " + said)});
}

void Prober::tell(const ProbeOutcome& outcome) {
  const ProbeOutcome kept = outcome;
  const Told told = std::exchange(told_, nullptr);
  end();
  if (told) told(kept);
}

void Prober::end() {
  told_ = nullptr;
  limit_.stop();
  watch_.end();
  output_watch_.end();
  if (command_) command_->give_up();
  command_.reset();
  connection_.end();
}

}  // namespace agentify
