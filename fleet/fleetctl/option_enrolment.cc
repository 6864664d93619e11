// The command lines of fleetctl enrol, renew, revoke and forget.
#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/ids.h"

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

}  // namespace fleetctl
