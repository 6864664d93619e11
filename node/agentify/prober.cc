#include "node/agentify/prober.h"

#include <cerrno>
#include <utility>

#include "upgrader/core/errno_name.h"

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
  std::optional<Address> found;
  std::string host;
  if (const auto* tcp = std::get_if<TcpProbe>(&kind)) {
    host = tcp->address.host;
    found = find_address(host, tcp->address.port);
  } else if (const auto* http = std::get_if<HttpProbe>(&kind)) {
    host = http->url.host;
    found = find_address(host, http->url.port);
  } else if (const auto* local = std::get_if<UnixProbe>(&kind)) {
    found = unix_address(local->path);
  } else {
    found = Address{};
  }
  if (!found) return "no address is known of " + host;
  address_ = *found;
  if (!limit_.begin(loop, [this] { tell({.words = "no answer in time"}); })) return "no timer";
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
  limit_.set(probe_time_max);
  if (std::holds_alternative<FileProbe>(*kind_)) {
    tell(look_at_file(fresh));
  } else if (const auto* command = std::get_if<CommandProbe>(&*kind_)) {
    run(command->command);
  } else if (const auto* http = std::get_if<HttpProbe>(&*kind_)) {
    connect(http_request(http->url));
  } else {
    connect(std::nullopt);
  }
}

void Prober::run(const std::string& command) {
  command_.emplace();
  if (!command_->begin(command, *options_, *environment_, false)) {
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

void Prober::connect(std::optional<std::string> request) {
  connection_.emplace();
  if (const auto outcome = connection_->begin(address_, std::move(request))) return tell(*outcome);
  const int events = connection_->wants_to_write() ? UV_WRITABLE : UV_READABLE;
  if (!watch_.begin(loop_, connection_->descriptor(), events, [this] { look_at_connection(); })) {
    tell({.words = "cannot watch a connection"});
  }
}

void Prober::look_at_connection() {
  if (const auto outcome = connection_->go_on()) return tell(*outcome);
  watch_.look_for(connection_->wants_to_write() ? UV_WRITABLE : UV_READABLE);
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
  connection_.reset();
}

}  // namespace agentify
