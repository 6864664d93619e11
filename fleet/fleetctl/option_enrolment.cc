// Defines the command lines of fleetctl enrol, renew, revoke, forget, token and approve.

#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/glob.h"
#include "fleet/model/ids.h"
#include "fleet/model/record_rules.h"

namespace fleetctl {
namespace {

CLI::App& add_one(CLI::App& app, Options& options, Command command, const std::string& name,
                  const std::string& about) {
  CLI::App& one = add(app, options, command, name, about);
  one.add_option("NAME", options.node, "of the node, or of the person")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "at most 63 small letters, digits, `.` and `-`"));
  return one;
}

void add_role(CLI::App& app, Options& options) {
  app.add_option("--role", options.role,
                 "of a person: viewer, operator, publisher, admin; or"
                 " controller. Otherwise it is a node")
      ->type_name("ROLE")
      ->check(form(&fleet::is_role, "viewer, operator, publisher, controller or admin"));
}

void add_signer(CLI::App& app, Options& options, bool required) {
  app.add_option("--signer", options.signer, "the authority's certificate")
      ->type_name("FILE")
      ->required(required);
  app.add_option("--signer-key", options.signer_key, "its key")
      ->type_name("FILE")
      ->required(required);
}

void add_days(CLI::App& app, Options& options) {
  app.add_option("--days", options.days, "how long it is good")
      ->type_name("N")
      ->check(CLI::Range(1, 3'650));
}

// Returns whether the text may be a glob for node names. It may contain the characters of node
// names, `*`, `?` and brackets.
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
      options.token.labels[text.substr(0, at)] = text.substr(at + 1);
    }
  };
  app.add_option_function<std::vector<std::string>>("--label", take,
                                                    "of the nodes; may be given again")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_create(CLI::App& token, Options& options) {
  CLI::App& create = add(token, options, Command::token_create, "create",
                         "make one, and print it; it is shown this once");
  add_label(create, options);
  create.add_option("--node", options.token.nodes, "only for names like this")
      ->type_name("GLOB")
      ->check(form(&is_node_glob, "small letters, digits, `.`, `-`, `*`, `?` and brackets"));
  create.add_option("--uses", options.token.uses, "how many machines it lets in")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, fleet::token_uses_max));
  add_duration(create, "--expires", options.expires_s, std::chrono::seconds(1),
               "how long it lets them in");
  create
      .add_option("--release-key", options.release_keys,
                  "a public key of releases that machines take; may be given again")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

}  // namespace

void add_enrolment(CLI::App& app, Options& options) {
  CLI::App& enrol =
      add_one(app, options, Command::enrol, "enrol", "sign a request, and let whoever made it in");
  add_role(enrol, options);
  enrol.add_option("--request", options.request, "made with his own key")
      ->type_name("FILE")
      ->required();
  add_signer(enrol, options, true);
  enrol.add_option("--output", options.output, "the certificate")->type_name("FILE")->required();
  add_days(enrol, options);

  CLI::App& renew =
      add(app, options, Command::renew, "renew", "sign what nodes have asked for, of their own");
  add_signer(renew, options, true);
  add_days(renew, options);

  CLI::App& revoke = add_one(app, options, Command::revoke, "revoke", "let somebody in no longer");
  add_role(revoke, options);
  revoke
      .add_option("--crl", options.revocations, "the list of revoked certificates, to be extended")
      ->type_name("FILE");
  add_signer(revoke, options, false);
  revoke
      .add_option("--restart", options.restart,
                  "restarts the member of the endpoint that it is given")
      ->type_name("PROGRAM");

  CLI::App& forget = add_one(app, options, Command::forget, "forget",
                             "remove what stands of a node or a controller that is gone");
  forget.add_flag("--controller", options.is_controller, "it is a controller");
}

void add_joining(CLI::App& app, Options& options) {
  CLI::App& token = *app.add_subcommand("token", "what lets machines join the cell");
  token.require_subcommand(1);
  token.fallthrough();
  add_create(token, options);
  add(token, options, Command::token_list, "list", "every token, and what it still does");
  add(token, options, Command::token_revoke, "revoke", "let nobody in by it any longer")
      .add_option("TOKEN", options.subject, "as `list` shows it")
      ->type_name("")
      ->required();

  CLI::App& approve = add(app, options, Command::approve, "approve",
                          "let a machine in that waits; alone: show those that wait");
  CLI::Option* node = approve.add_option("NODE", options.node, "its name")
                          ->type_name("")
                          ->check(form(&fleet::is_id, "the name of a node"));
  approve.add_option("FINGERPRINT", options.fingerprint, "of its key, as the machine shows it")
      ->type_name("")
      ->needs(node);
  approve.callback([&options] {
    options.command = Command::approve;
    if (!options.node.empty() && options.fingerprint.empty())
      throw CLI::RequiredError("FINGERPRINT");
  });
}

}  // namespace fleetctl
