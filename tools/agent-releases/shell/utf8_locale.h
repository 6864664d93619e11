// Gives the calling thread a UTF-8 locale as long as the object exists, whatever locale the program
// has.
#pragma once

#include <locale.h>

namespace agent_releases {

// libarchive converts names to the locale of the thread. Our names are UTF-8 in every locale, so
// code that calls libarchive needs this object.
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
