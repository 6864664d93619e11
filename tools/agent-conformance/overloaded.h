// Makes one function object of several, for std::visit.
#pragma once

namespace conformance {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 needs this deduction guide

}  // namespace conformance
