# A fleet-controller with a web server, functions for requests to it, and nodes that exist only as
# records.
import http.client
import json
import ssl

import machines
from cell import enrol, same, wait


class Controller(machines.Controller):
    """A fleet-controller that serves HTTP."""

    def __init__(self, cell, name="c1", *options):
        super().__init__(cell, name, "--http=127.0.0.1:0", *options)
        self.port = int(wait("the server", self.served).split()[0])

    def served(self):
        return self.log().partition("serves port ")[2]

    def connection(self, who=None):
        if who is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        context = ssl.create_default_context(cafile=self.cell.path("ca.pem"))
        if who:
            context.load_cert_chain(self.cell.path(who + ".pem"), self.cell.path(who + ".key"))
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=context)

    def ask(self, method, path, body=None, who=None, **headers):
        """Sends a request. Returns the status, the headers and the body of the response. A body in
        JSON is returned as an object."""
        line = self.connection(who)
        text = None if body is None else body if isinstance(body, str) else json.dumps(body)
        line.request(method, path, text,
                     {name.replace("_", "-"): value for name, value in headers.items()})
        response = line.getresponse()
        said = response.read().decode()
        line.close()
        if response.headers.get("Content-Type", "").startswith("application/json") and said:
            return response.status, response.headers, json.loads(said)
        return response.status, response.headers, said

    def get(self, path, **keywords):
        status, _, body = self.ask("GET", path, **keywords)
        same(status, 200)
        return body

    def status(self, *arguments, **keywords):
        return self.ask(*arguments, **keywords)[0]


def node(cell, name, version="1.0.0", reports=True, **instance):
    cell.put("node/%s/info" % name, facts={"os": "Linux"})
    cell.put("node/%s/versions" % name, agent=version)
    cell.put("node/%s/active" % name, instance="i-" + name)
    if reports:
        cell.put("node/%s/instance/i-%s" % (name, name), version=version, ready=True, **instance)


def secured(cell, *roles):
    """Enrols a person for each of these roles. Starts a controller that requires certificates of
    its clients."""
    for name in roles:
        role, _, who = name.partition(":")
        enrol(cell, who, "--role=" + role, file=role + "-" + who)
    one = Controller(cell, "c1", *https(cell))
    some = roles[0].replace(":", "-")
    wait("the records", lambda: one.status("GET", "/v1/state", who=some) == 200)
    return one


def https(cell):
    cell.sign("http")
    return ["--http-cert=" + cell.path("http.pem"), "--http-key=" + cell.path("http.key"),
            "--http-ca=" + cell.path("ca.pem")]
