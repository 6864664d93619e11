// One function object made of several, for std::visit.
#pragma once

namespace conformance {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 does not deduce it by itself

}  // namespace conformance
