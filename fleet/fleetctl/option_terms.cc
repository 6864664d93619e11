// Defines the options for the terms of a rollout, which `fleetctl rollout start` and `fleetctl
// rollout plan` have. fleetctl(1) describes these options.
#include <map>

#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/rollout_terms.h"

namespace fleetctl {
namespace {

// The largest value of --max-failed. The setting watch.COMPONENT.max-failed has the same limit.
constexpr std::int64_t max_failed_max = 10'000;
constexpr std::int64_t protocol_max = 1'000'000;

bool is_seed(std::string_view text) {
  return !text.empty() && text.size() <= fleet::seed_bytes_max;
}

// Parses the value of --batch: a number of nodes, or a percentage such as `5%`.
void take_batch(fleet::RolloutTerms& terms, const std::string& text) {
  const bool percent = text.ends_with('%');
  const std::string digits = percent ? text.substr(0, text.size() - 1) : text;
  const bool is_number =
      !digits.empty() && digits.size() < 6 && digits.find_first_not_of("0123456789") == digits.npos;
  if (!is_number || std::stoll(digits) == 0) {
    throw CLI::ValidationError("--batch", text + ": needs a number of nodes, or a percentage");
  }
  (percent ? terms.batch_percent : terms.batch) = std::stoll(digits);
}

// Returns a validator that accepts an option's value if `parse` can parse it. Otherwise the error
// message is the reason that `parse` returns.
template <class Value>
CLI::Validator parsed(agent_protocol::Result<Value> (*parse)(std::string_view)) {
  const auto judge = [parse](std::string& text) -> std::string {
    const auto value = parse(text);
    return value ? "" : value.reason();
  };
  return {judge, "", "form"};
}

void add_order(CLI::App& app, fleet::RolloutTerms& terms) {
  const std::map<std::string, fleet::NodeOrder> orders{{"name", fleet::NodeOrder::name},
                                                       {"random", fleet::NodeOrder::random}};
  app.add_option_function<std::string>(
         "--order", [&terms, orders](const std::string& text) { terms.order = orders.at(text); },
         "order in which the nodes move: random or name")
      ->type_name("ORDER")
      ->check(CLI::IsMember(orders).description(""));
  app.add_option("--seed", terms.seed, "seed of the random order; chosen at random by default")
      ->type_name("TEXT")
      ->check(form(&is_seed, "1 to 64 bytes"));
  app.add_option("--apart", terms.apart,
                 "limit each batch to N nodes, or P percent, of each value of LABEL")
      ->type_name("LABEL[:N|P%]")
      ->allow_extra_args(false)
      ->check(parsed(&fleet::parse_apart));
}

// Adds an option whose value is a decimal number. The number is stored as an integer, in
// millionths.
void add_millionths(CLI::App& app, const std::string& name, std::int64_t& value,
                    const std::string& about) {
  const auto take = [name, &value](const std::string& text) {
    const auto millionths = fleet::millionths_in(text);
    if (!millionths) throw CLI::ValidationError(name, text + ": needs a number such as 0.05");
    value = *millionths;
  };
  app.add_option_function<std::string>(name, take, about)->type_name("NUMBER");
}

// Adds the options for the rollout's judge, which compares the new version with the old one: how
// long it judges, and how strictly.
void add_judgement(CLI::App& app, fleet::RolloutTerms& terms) {
  constexpr std::chrono::milliseconds unit{1};
  add_duration(app, "--judge-timeout", terms.judge_timeout_ms, unit,
               "longest wait for the verdict on a batch; then the batch goes back");
  add_duration(app, "--bake", terms.bake_ms, unit,
               "time after the last batch for which the rollout is still judged");
  add_millionths(app, "--alpha", terms.alpha_millionths,
                 "largest probability that the judge stops a good version");
  add_millionths(app, "--tolerate", terms.tolerate_millionths,
                 "accepted failure rate, as a multiple of the rate on nodes not yet moved");
}

}  // namespace

void add_terms(CLI::App& app, Options& options) {
  fleet::RolloutTerms& terms = options.terms;
  terms = fleet::open_terms();
  constexpr std::chrono::milliseconds unit{1};
  app.add_option("--target", terms.target,
                 "roll out to the nodes that the target EXPR selects, see fleet(7)")
      ->type_name("EXPR")
      ->required();
  CLI::Option* batches =
      app.add_option("--batches", terms.batches,
                     "sizes of the batches, in nodes or percent; the last size is repeated")
          ->type_name("SIZE,...")
          ->check(parsed(&fleet::parse_batches));
  add_order(app, terms);
  app.add_option_function<std::string>(
         "--batch", [&terms](const std::string& text) { take_batch(terms, text); },
         "number of nodes in each batch, or a percentage of the rollout's nodes")
      ->type_name("N|P%")
      ->excludes(batches);
  // Without this check, the option parser would silently replace a number that is too large for its
  // type by the largest one.
  const auto number = [](std::int64_t least, std::int64_t most) {
    return CLI::Range(least, most).description("");
  };
  app.add_option("--canary", terms.canary, "number of nodes in the first batch")
      ->type_name("N")
      ->check(number(0, fleet::batch_nodes_max))
      ->excludes(batches);
  add_duration(app, "--soak", terms.soak_ms, unit,
               "time for which each node watches the new version before keeping it");
  add_duration(app, "--pause", terms.pause_ms, unit, "time between two batches");
  add_duration(app, "--spread", terms.spread_ms, unit,
               "time within which the nodes of a batch begin, one after the other");
  app.add_flag("--yes", options.many_batches, "accept more than 100 batches");
  app.add_option("--max-failed", terms.max_failed,
                 "number of failed nodes at which the rollout is aborted")
      ->type_name("N")
      ->check(number(1, max_failed_max));
  add_judgement(app, terms);
  add_duration(app, "--confirm", terms.confirm_ms, unit,
               "time without a confirmation after which a node goes back by itself");
  app.add_option("--min-protocol", terms.min_protocol,
                 "refuse the rollout if a node's fleet-agent speaks an older protocol than N")
      ->type_name("N")
      ->check(number(0, protocol_max));
  app.add_option("--gate", terms.gates,
                 "name of a controllers' gate that must say `well` before a batch is kept")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->check(form(&fleet::is_id, "the name of a gate"));
  app.add_flag("--downgrade", terms.downgrade,
               "allow a version that is older than the running version");
  app.add_flag("--undo", terms.undo,
               "undo the rollout if failures, the judge or a gate abort the rollout");
  app.add_flag("--ignore-window", terms.ignore_window,
               "begin also outside the windows of the nodes");
}

}  // namespace fleetctl
