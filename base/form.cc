#include "base/form.h"

#include <cstdarg>

namespace agent_protocol {

std::string filled(const char* form, ...) {  // NOLINT(cert-dcl50-cpp): one function for all forms
  std::string text;
  std::va_list values;
  va_start(values, form);
  for (const char* at = form; *at != '\0'; ++at) {
    switch (ValueKind{*at}) {
      case ValueKind::text: {
        const Text value = va_arg(values, Text);
        text.append(value.begin, value.size);
        break;
      }
      case ValueKind::number:
        text += decimal(va_arg(values, std::int64_t));
        break;
      case ValueKind::told: {
        const Told told = va_arg(values, Told);
        text += told.in_words(told.value);
        break;
      }
      default:
        text += *at;
    }
  }
  va_end(values);
  return text;
}

}  // namespace agent_protocol
