// Compares fleet/http/openapi.json with the server: paths and methods, parameters, and the members
// of the records that people write. Also checks that no reference in the document is dangling, and
// that each part of the document is referred to.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "fleet/http/access.h"
#include "fleet/http/message.h"
#include "fleet/model/records/record_rules.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/orders/order.h"

namespace openapi_test {

namespace {

using namespace fleet;
using Names = std::set<std::string>;

JsonTree document() {
  const PageFile* file = page_file("/v1/openapi.json");
  REQUIRE(file != nullptr);
  const auto tree = parse_foreign_tree(file->text);
  REQUIRE(tree);
  return tree.value();
}

// Returns the names of the parameters in a path, such as `id` in `/v1/config/rollout/{id}`.
Names parameters_in(const std::string& path) {
  Names names;
  for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{', open)) {
    const std::size_t close = path.find('}', open);
    names.insert(path.substr(open + 1, close - open - 1));
    open = close;
  }
  return names;
}

// Returns the path with each parameter replaced by an example name.
std::string example_of(std::string path) {
  for (const std::string& name : parameters_in(path)) {
    const std::string place = "{" + name + "}";
    path.replace(path.find(place), place.size(), name == "kind" ? "window" : "x1");
  }
  return path;
}

// Returns the part of the document to which a `$ref` refers, or null if there is no such part.
const JsonTree* part_at(const JsonTree& document, const std::string& reference) {
  if (!reference.starts_with("#/")) return nullptr;
  const JsonTree* at = &document;
  for (std::size_t begin = 2; at != nullptr && begin <= reference.size();) {
    const std::size_t end = std::min(reference.find('/', begin), reference.size());
    at = at->find(reference.substr(begin, end - begin));
    begin = end + 1;
  }
  return at;
}

// Collects all values of `$ref` in the tree. Also checks that every name in a `required` list is
// one of the object's properties.
void walk(const JsonTree& tree, const JsonTree& document, Names& references) {
  for (const JsonTree& element : tree.elements)
    walk(element, document, references);
  const JsonTree* required = tree.find("required");
  const JsonTree* properties = tree.find("properties");
  if (required != nullptr && required->is_array()) {
    for (const JsonTree& name : required->elements) {
      INFO(name.text);
      CHECK((properties != nullptr && properties->find(name.text) != nullptr));
    }
  }
  for (const auto& [name, member] : tree.members) {
    walk(member, document, references);
    if (name != "$ref") continue;
    INFO(member.text);
    CHECK(part_at(document, member.text) != nullptr);
    references.insert(member.text);
  }
}

const JsonTree& resolved(const JsonTree& tree, const JsonTree& document) {
  const JsonTree* reference = tree.find("$ref");
  return reference == nullptr ? tree : *part_at(document, reference->text);
}

// Returns the names of the operation's parameters of one kind: `path` or `query`.
Names parameters_of(const JsonTree& operation, const std::string& where, const JsonTree& document) {
  Names names;
  const JsonTree* list = operation.find("parameters");
  if (list == nullptr) return names;
  for (const JsonTree& one : list->elements) {
    const JsonTree& parameter = resolved(one, document);
    CHECK(parameter.find("schema") != nullptr);
    if (parameter.text_of("in") == where) names.insert(parameter.text_of("name"));
    if (parameter.text_of("in") == "path") CHECK(parameter.is_true("required"));
  }
  return names;
}

Names member_names_of(const JsonTree& schema) {
  Names names;
  for (const auto& [name, property] : schema.find("properties")->members)
    names.insert(name);
  return names;
}

const JsonTree& schema(const JsonTree& document, const std::string& name) {
  const JsonTree* found = part_at(document, "#/components/schemas/" + name);
  REQUIRE(found != nullptr);
  return *found;
}

// Returns the names of the record's members that people may write. Only the server writes the other
// members: those in `ours`, and the version of the record's format.
template <class Record>
Names members_but(Names ours) {
  ours.insert("v");
  Names names;
  for (const auto& name : member_names<Record>())
    if (!ours.contains(std::string(name))) names.insert(std::string(name));
  return names;
}

TEST_CASE("every route of the server is in OpenAPI, and every path in it is served") {
  const JsonTree all = document();
  CHECK(all.text_of("openapi") == "3.0.3");
  std::set<Place> places;
  std::set<KeyKind> kinds;
  for (const auto& [path, item] : all.find("paths")->members) {
    INFO(path);
    const Route route = route_of(example_of(path));
    CHECK(route.place != Place::nowhere);
    places.insert(route.place);
    if (route.place != Place::config || is_config_list(route.rest)) continue;
    const auto key = config_record(route.rest);
    REQUIRE(key.has_value());
    kinds.insert(key->kind);
  }

  for (int place = 0; place < static_cast<int>(Place::nowhere); ++place)
    CHECK(places.contains(static_cast<Place>(place)));
  for (int kind = 0; kind <= static_cast<int>(KeyKind::place); ++kind)
    CHECK(kinds.contains(static_cast<KeyKind>(kind)) == is_orderable(static_cast<KeyKind>(kind)));
}

TEST_CASE("OpenAPI has the methods that the server takes, and no others") {
  const Door door{.certificates = true, .port = 443};
  const JsonTree all = document();
  for (const auto& [path, item] : all.find("paths")->members) {
    const Route route = route_of(example_of(path));
    // Requests to join are left out: the server answers them before it calls why_not_let_in().
    if (route.place == Place::join) continue;
    for (const char* method : {"get", "put", "patch", "post", "delete"}) {
      INFO(path << " " << method);
      std::string name = method;
      for (char& letter : name)
        letter = static_cast<char>(letter - 'a' + 'A');
      const Request request{.method = value_of<Method>(name),
                            .path = example_of(path),
                            .visitor = Visitor{"admin:anna"}};
      const auto refused = why_not_let_in(request, route, door);
      const bool is_told = item.find(method) != nullptr;
      if (is_told) CHECK_FALSE(refused);
      // For the path of a record, why_not_let_in() refuses only POST. The other allowed methods
      // depend on the kind of record, and config.h checks them later. So only POST is checked here.
      const bool is_record = route.place == Place::config && !is_config_list(route.rest);
      if (!is_told && (!is_record || name == "POST")) CHECK(refused->status == 405);
    }
  }
}

TEST_CASE("every operation in OpenAPI has a name, its parameters, and what it answers") {
  const JsonTree all = document();
  Names ids;
  Names query;
  for (const auto& [path, item] : all.find("paths")->members) {
    for (const auto& [method, operation] : item.members) {
      if (method == "parameters") continue;
      INFO(path << " " << method);
      CHECK(ids.insert(operation.text_of("operationId")).second);
      CHECK_FALSE(operation.text_of("summary").empty());
      Names places = parameters_of(item, "path", all);
      places.merge(parameters_of(operation, "path", all));
      CHECK(places == parameters_in(path));
      query.merge(parameters_of(operation, "query", all));
      REQUIRE(operation.find("responses") != nullptr);
      CHECK(operation.find("responses")->find("default") != nullptr);
      for (const auto& [status, response] : operation.find("responses")->members)
        CHECK_FALSE(resolved(response, all).text_of("description").empty());
    }
  }

  // These are all query parameters that the server reads, in state.h and config.h.
  CHECK(query == Names{"before", "content", "fields", "limit", "subject", "trace", "validate",
                       "who", "yes"});
}

TEST_CASE("every reference in OpenAPI leads somewhere, and every part of it is used") {
  const JsonTree all = document();
  Names used;
  walk(all, all, used);

  for (const auto& [kind, parts] : all.find("components")->members) {
    for (const auto& [name, part] : parts.members) {
      INFO(kind << " " << name);
      CHECK(used.contains("#/components/" + kind + "/" + name));
    }
  }
}

TEST_CASE("OpenAPI has the members that the server takes of a rollout, a wish, a window, a stop") {
  const JsonTree all = document();
  const JsonTree* terms = schema(all, "NewRollout").find("properties")->find("terms");

  CHECK(member_names_of(*terms) ==
        members_but<RolloutTerms>({"digest", "max_failed_unsaid", "no_undo"}));
  CHECK(member_names_of(schema(all, "Desired")) ==
        members_but<Desired>({"digest", "pending", "pinned", "who", "trace", "refused", "previous",
                              "previous_refused"}));
  CHECK(member_names_of(schema(all, "NewCommand")) ==
        members_but<fleet::Command>({"id", "digest", "instance", "soak_ms", "confirm_ms",
                                     "deadline_ms", "delay_ms", "undo", "trace", "judged"}));
  CHECK(member_names_of(schema(all, "Window")) == members_but<Window>({"who"}));
  CHECK(member_names_of(schema(all, "Stop")) == members_but<Stop>({"who", "since"}));
  Names orders;
  for (const JsonTree& order :
       schema(all, "RolloutOrder").find("properties")->find("order")->find("enum")->elements)
    orders.insert(order.text);
  for (const auto& name : names(RolloutOrder{}))
    CHECK(orders.contains(std::string(name)) == (name != "unknown"));
}

TEST_CASE("the lint finds a reference that leads nowhere") {
  const JsonTree all = document();

  CHECK(part_at(all, "#/components/schemas/Reason") != nullptr);
  CHECK(part_at(all, "#/components/schemas/Planted") == nullptr);
  CHECK(part_at(all, "components/schemas/Reason") == nullptr);
}

}  // namespace

}  // namespace openapi_test
