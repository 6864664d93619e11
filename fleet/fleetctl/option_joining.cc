// Defines the command lines of the commands for machines that join: `fleetctl token` and `approve`.
#include "base/duration.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/nodes/target_match.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_rules.h"
#include "fleet/model/records/record_text.h"

namespace fleetctl {
namespace {

// Returns whether the text can be a glob for node names. A glob may contain the characters of node
// names, `*`, `?`, `!` and brackets.
bool is_node_glob(std::string_view text) {
  return !text.empty() && text.size() <= 2 * fleet::id_bytes_max && fleet::is_glob(text) &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-*?[]!") == text.npos;
}

void add_label(CLI::App& app, Options& options) {
  const auto take = [&options](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const std::size_t at = text.find('=');
      if (at == text.npos || !fleet::is_id(text.substr(0, at)))
        throw CLI::ValidationError("--label", text + ": needs NAME=VALUE");
      std::string& value = options.token.labels[text.substr(0, at)];
      value = text.substr(at + 1);
      if (fleet::brief(value, fleet::label_bytes_max) != value)
        throw CLI::ValidationError("--label",
                                   text.substr(0, at) + ": needs a value in UTF-8 of at most " +
                                       std::to_string(fleet::label_bytes_max) + " bytes in JSON");
    }
    if (options.token.labels.size() > fleet::record_entries_max)
      throw CLI::ValidationError("--label", "a record has at most 256 labels");
  };
  app.add_option_function<std::vector<std::string>>(
         "--label", take, "label for nodes that join by the token; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

bool is_no_zero(std::string_view duration) {
  return upgrader::parse_length(duration) != upgrader::Duration{0};
}

void add_create(CLI::App& token, Options& options) {
  CLI::App& create = add(token, options, &create_token, "create",
                         "make a token, and print the token, which cannot be shown again");
  add_label(create, options);
  create.add_option("--node", options.token.nodes, "admit only machines whose names match GLOB")
      ->type_name("GLOB")
      ->check(form(&is_node_glob, "small letters, digits, `.`, `-`, `*`, `?` and brackets"));
  create.add_option("--uses", options.token.uses, "number of machines that may join by the token")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, fleet::token_uses_max));
  add_duration(create, "--expires", options.expires_s, std::chrono::seconds(1),
               "time for which the token can be used");
  create.get_option("--expires")->check(form(&is_no_zero, "a time longer than 0"));
  create
      .add_option("--release-key", options.release_keys,
                  "file of a public release key that joining machines get; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

}  // namespace

void add_joining(CLI::App& app, Options& options) {
  CLI::App& token = *app.add_subcommand(
      "token", "make, list or revoke tokens, with which machines join the cell");
  token.require_subcommand(1);
  token.fallthrough();
  add_create(token, options);
  add(token, options, &list_tokens, "list",
      "list all tokens, with their labels, their uses and whether they are valid");
  add(token, options, &revoke_token, "revoke", "make a token invalid immediately")
      .add_option("TOKEN", options.subject, "ID of the token, from `fleetctl token list`")
      ->type_name("")
      ->required();

  CLI::App& approve =
      add(app, options, &fleetctl::approve, "approve",
          "let a waiting machine join; without arguments, list the waiting machines");
  CLI::Option* node =
      approve.add_option("NODE", options.node, "name under which the machine joins")
          ->type_name("")
          ->check(form(&fleet::is_id, "the name of a node"));
  approve
      .add_option("FINGERPRINT", options.fingerprint,
                  "fingerprint of the machine's key, as `fleet-agent join` prints it")
      ->type_name("")
      ->needs(node);
  approve.callback([&options] {
    options.command = &fleetctl::approve;
    if (!options.node.empty() && options.fingerprint.empty())
      throw CLI::RequiredError("FINGERPRINT");
  });
}

}  // namespace fleetctl
