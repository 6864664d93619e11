// Functions that the guards and the effects of the second table share: they read an event, and find
// an effect by its name.
#pragma once

#include "tests/decisions/explore/second_words.h"

namespace upgrader::test {

template <class Kind>
const Kind& as(const Happening& happening) {
  return std::get<Kind>(*happening.event);
}

template <class Kind>
const Kind& said(const Happening& happening) {
  return std::get<Kind>(as<MessageReceived>(happening).message);
}

// Returns the terms of a requested upgrade: those that the request sets, and the defaults for the
// others.
[[nodiscard]] Terms terms_of(const Policy& policy, const agent_protocol::Upgrade& asked,
                             bool by_signal);

template <class Function>
struct Named {
  const char* name;
  Function function;
};

template <class Function, std::size_t size>
Function named(const Named<Function> (&all)[size], std::string_view name) {
  for (const auto& one : all) {
    if (one.name == name) return one.function;
  }
  return nullptr;
}

// Returns the effect on deadlines with this name, or null if there is none.
[[nodiscard]] Effect deadline_effect_named(std::string_view name);

}  // namespace upgrader::test
