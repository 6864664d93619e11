// Combines several function objects into one, for std::visit.
#pragma once

namespace conformance {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 needs this deduction guide

}  // namespace conformance
