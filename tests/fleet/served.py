# A fleet-controller that serves, as tests ask it, and nodes that are records alone.
import http.client
import json
import os
import ssl
import subprocess

from cell import BUILD, same, wait


class Controller:
    """A fleet-controller that serves, which the cell ends with its machines."""

    def __init__(self, cell, name="c1", *options):
        self.cell = cell
        self.node = name
        self.file = cell.path(name + ".log")
        with open(self.file, "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(BUILD, "fleet-controller"), "--name=" + name,
                 "--endpoint=" + cell.url, "--ca=" + cell.path("ca.pem"),
                 "--cert=" + cell.path("root.pem"), "--key=" + cell.path("root.key"),
                 "--http=127.0.0.1:0", *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cell.machines.append(self)
        self.port = int(wait("the server", self.served).split()[0])

    def served(self):
        return self.log().partition("serves port ")[2]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        with open(self.file, errors="replace", encoding="utf-8") as log:
            return log.read()

    def connection(self, who=None):
        if who is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        context = ssl.create_default_context(cafile=self.cell.path("ca.pem"))
        if who:
            context.load_cert_chain(self.cell.path(who + ".pem"), self.cell.path(who + ".key"))
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=context)

    def ask(self, method, path, body=None, who=None, **headers):
        """Status, headers, and the body as an object where it is one."""
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
