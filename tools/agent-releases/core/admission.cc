#include "tools/agent-releases/core/admission.h"

#include <algorithm>
#include <charconv>

#include "agent-releases/processor.h"

namespace agent_releases {
namespace {

Outcome admit_time(const Manifest& manifest, const Circumstances& here) {
  if (!manifest.expires) return std::monostate{};
  if (here.now < here.passed.when) {
    return Refusal{"its manifest expires, and whether it has cannot be known: the clock says " +
                   to_text(here.now) + ", and " + here.passed.what + " is of " +
                   to_text(here.passed.when) + "; set the clock"};
  }
  if (here.now >= *manifest.expires) {
    return Refusal{"its manifest has expired, at " + to_text(*manifest.expires)};
  }
  return std::monostate{};
}

void take_if_newer(std::optional<Present>& newest, const Version& version, std::string_view which) {
  if (!newest || newest->version < version) newest = Present{version, which};
}

bool has_failed_last(const std::vector<Entry>& ledger, const Version& version) {
  const auto last = std::find_if(ledger.rbegin(), ledger.rend(),
                                 [&](const Entry& entry) { return entry.version == version; });
  return last != ledger.rend() && last->ending == Ending::failed;
}

}  // namespace

std::optional<Present> present_version(const Versions& versions, const std::vector<Entry>& ledger) {
  std::optional<Present> newest;
  if (versions.current) take_if_newer(newest, *versions.current, "the current one");
  if (versions.running) take_if_newer(newest, *versions.running, "the running one");
  if (newest) return newest;
  for (const Entry& entry : ledger) {
    if (entry.ending != Ending::committed) continue;
    take_if_newer(newest, entry.version, "the newest one that has run");
  }
  if (newest) return newest;
  for (const Version& version : versions.there) {
    if (version.is_prerelease() || has_failed_last(ledger, version)) continue;
    take_if_newer(newest, version, "the newest one that is there");
  }
  return newest;
}

std::optional<Moment> signed_at(std::string_view trusted_comment) {
  constexpr std::string_view mark = "timestamp:";
  constexpr std::size_t digits_max = 12;
  const std::size_t found = trusted_comment.find(mark);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view text = trusted_comment.substr(found + mark.size());
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > digits_max) return std::nullopt;
  Moment when = 0;
  std::from_chars(text.data(), text.data() + digits, when);
  return when;
}

Passed last_passed(const std::vector<Entry>& ledger, std::string_view trusted_comment,
                   std::optional<Moment> added) {
  // The time in a signature comes from the publisher's clock, which may be fast by at most this
  // many seconds. So the time in the signature minus this number is certainly in the past.
  constexpr Moment publisher_ahead = 600;
  Passed last{program_date, "this program"};
  const auto learn = [&](Moment when, const char* what) {
    if (when > last.when) last = {when, what};
  };
  if (!ledger.empty()) learn(ledger.back().when, "the ledger's last entry");
  if (const auto when = signed_at(trusted_comment)) learn(*when - publisher_ahead, "its signature");
  if (added) learn(*added, "the newest release that is there");
  return last;
}

Outcome admit(const Manifest& manifest, const Circumstances& here) {
  if (manifest.name != here.name) {
    return Refusal{"it is a release of " + manifest.name + ", and this directory is for " +
                   here.name};
  }
  if (!is_for_processor(manifest.arch, here.processor)) {
    return Refusal{"it is for " + manifest.arch + ", and the programs of this machine are for " +
                   here.processor};
  }
  if (manifest.min_protocol > protocol_spoken) {
    return Refusal{"it needs agent protocol " + std::to_string(manifest.min_protocol) +
                   ", and this machine's is " + std::to_string(protocol_spoken)};
  }
  if (const Outcome in_time = admit_time(manifest, here); !in_time) return in_time;
  if (here.present && manifest.version < here.present->version && !here.older_is_wanted) {
    return Refusal{"version " + manifest.version.text() + " is older than " +
                   std::string(here.present->which) + ", " + here.present->version.text() +
                   "; if that is meant, say --older"};
  }
  return std::monostate{};
}

}  // namespace agent_releases
