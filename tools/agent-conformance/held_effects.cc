#include "tools/agent-conformance/held_effects.h"

#include <utility>

#include "tools/agent-conformance/effects.h"
#include "tools/agent-conformance/scripts.h"

namespace conformance {

namespace {

using Kind = Step::Kind;
using What = Step::What;

constexpr int slower_by_strace = 4;

Judgement judge_held_listeners(const Lives& lives, Time) {
  for (const ProcessFacts& process : lives[0].looks.back().processes) {
    if (process.listens.empty()) continue;
    return {.fault = Fault{.came = "process " + std::to_string(process.pid) + " (" + process.name +
                                   ") listens on " + process.listens.front()}};
  }
  return {.notes = {"there is no strace here: of what it does only listening was looked for; "
                    "files that it opens for writing were not seen"}};
}

Judgement judge_held_trace(const Lives& lives, Time) {
  Effects effects = effects_of(lives[0].trace);
  if (!effects.faults.empty()) {
    return {.fault = Fault{.came = "it called " + effects.faults.front()}};
  }
  return {.notes = std::move(effects.notes)};
}

}  // namespace

Script held_effects(Step start, const Terms& terms) {
  start.terms.traced = terms.has_strace;
  const Duration time = terms.has_strace ? terms.start_timeout * slower_by_strace : Duration{0};
  const Script held{start, await(0, What::hello, time), await(0, What::ready, time),
                    watch(terms.watch)};
  const Script end{hang_up(0), await(0, What::exit)};
  if (!terms.has_strace) return join({held, {look(0), examine(judge_held_listeners)}, end});
  return join({held, end, {of_kind(Kind::traced), examine(judge_held_trace)}});
}

}  // namespace conformance
