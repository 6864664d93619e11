#include "agent-protocol/wire/form.h"

namespace agent_protocol {

void add_form(std::string& text, const char* form, Values& values, AddFurther add_further) {
  for (const char* at = form; *at != '\0'; ++at) {
    switch (ValueKind{*at}) {
      case ValueKind::text:
        text += *va_arg(values.list, const std::string*);
        break;
      case ValueKind::view:
        text += *va_arg(values.list, const std::string_view*);
        break;
      case ValueKind::c_text:
        text += va_arg(values.list, const char*);
        break;
      case ValueKind::number:
        text += std::to_string(va_arg(values.list, long long));
        break;
      default:
        if (ValueKind{*at} >= ValueKind::further && ValueKind{*at} <= ValueKind::last) {
          add_further(text, *at, values);
        } else {
          text += *at;
        }
    }
  }
}

std::string filled(const char* form, ...) {
  std::string text;
  Values values;
  va_start(values.list, form);
  add_form(text, form, values, nullptr);
  va_end(values.list);
  return text;
}

}  // namespace agent_protocol
