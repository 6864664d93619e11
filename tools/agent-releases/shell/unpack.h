// Unpacks the archive of a release, which may be hostile, into a new directory. member.h decides
// which names and links in the archive are refused. Accepts tar, plain or compressed by gzip, xz or
// zstd.
#pragma once

#include <locale.h>

#include <cstdint>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// Reads the archive from its beginning, and makes its files durable in `into`. Returns the list of
// these files, in the form that parse_list() reads. After a refusal, the caller must remove the
// files that were made.
[[nodiscard]] Result<std::string> unpack(int archive, std::int64_t archive_bytes,
                                         const Directory& into);

// Gives the calling thread a UTF-8 locale as long as the object exists, whatever locale the program
// has. libarchive converts the names of files between UTF-8 and the thread's locale. The names in
// releases are UTF-8 in every locale, so code that calls libarchive needs this object.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
    if (locale_ != locale_t{}) before_ = ::uselocale(locale_);
  }
  ~Utf8Locale() {
    if (locale_ == locale_t{}) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t locale_;
  locale_t before_{};
};

}  // namespace agent_releases
