#include "fleet/common/certificate_time.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/text_file.h"

namespace fleet {
namespace {

constexpr UnixSeconds between_writes = 3'600;

}  // namespace

UnixSeconds judging_time(const CertificateTime& time) {
  return std::max(time.clock, time.durable);
}

std::string judging_words(const CertificateTime& time) {
  return time_text_of(judging_time(time)) + (time.durable > time.clock
                                                 ? ", the last time that was kept here"
                                                 : ", which this machine's clock shows");
}

std::string why_too_early(const CertificateTime& time, const Validity& own) {
  if (own.from <= judging_time(time)) return "";
  return "this machine's certificate begins at " + time_text_of(own.from) + ", after " +
         judging_words(time) + ": waits until the clock is set";
}

std::optional<UnixSeconds> durable_from(const CertificateTime& time,
                                        const std::optional<Validity>& own, bool at_once) {
  const UnixSeconds now = time.clock;
  if (!own || now < own->from || now >= own->until) return std::nullopt;
  if (now < time.durable + (at_once ? 1 : between_writes)) return std::nullopt;
  return now;
}

std::string durable_text(UnixSeconds time) {
  return std::to_string(time) + "\n";
}

UnixSeconds durable_of(const std::string& text) {
  UnixSeconds time = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, time);
  const bool is_whole = read.ec == std::errc() && read.ptr + 1 == end && *read.ptr == '\n';
  return is_whole ? std::max<UnixSeconds>(time, 0) : 0;
}

CertificateClock::CertificateClock(std::string file, Certificates certificates)
    : file_(std::move(file)),
      certificates_(std::move(certificates)),
      durable_(durable_of(content_of_file(file_))) {}

CertificateTime CertificateClock::time() const {
  return {.clock = std::time(nullptr), .durable = durable_};
}

JudgingTime CertificateClock::judge() const {
  const CertificateTime now = time();
  const auto own = validity_of(content_of_file(certificates_.own));
  return {.seconds = judging_time(now),
          .words = judging_words(now),
          .wait = own ? why_too_early(now, *own) : ""};
}

// Writes the time to the file. First reads the file: during an upgrade of fleet-agent, two
// processes run, and the older one may have written a later time there.
std::string CertificateClock::keep(bool at_once) {
  durable_ = std::max(durable_, durable_of(content_of_file(file_)));
  const auto fresh = durable_from(time(), validity_of(content_of_file(certificates_.own)), at_once);
  if (!fresh) return "";
  if (const std::string why = replace_file(file_, durable_text(*fresh), 0600); !why.empty())
    return why;
  durable_ = *fresh;
  return "";
}

}  // namespace fleet
