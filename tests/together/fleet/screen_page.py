# Opens the page of a cell in a real browser, and checks the texts on the page. A controller serves
# the page.
import os
import socket
import ssl
import threading

from browser import Browser
from cell import same, wait
from served import Controller, https

WIDTHS = (360, 1440)
PICTURES = os.environ.get("PICTURES")


class Passage:
    """Accepts connections of the browser, and forwards them to a controller with a person's TLS
    certificate, since a headless browser cannot be given a certificate. Requests and headers are
    forwarded unchanged."""

    def __init__(self, cell, port, who):
        self.node = "passage"
        self.port_behind = port
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.load_cert_chain(cell.path("http.pem"), cell.path("http.key"))
        self.client = ssl.create_default_context(cafile=cell.path("ca.pem"))
        self.client.load_cert_chain(cell.path(who + ".pem"), cell.path(who + ".key"))
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=50)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        cell.machines.append(self)

    def accept(self):
        for _connections_at_most in range(10_000):
            try:
                connection, _ = self.listener.accept()
            except OSError:  # the test has closed the listener
                return
            threading.Thread(target=self.carry, args=(connection,), daemon=True).start()

    def carry(self, connection):
        try:
            near = self.server.wrap_socket(connection, server_side=True)
            far = self.client.wrap_socket(
                socket.create_connection(("127.0.0.1", self.port_behind)),
                server_hostname="127.0.0.1")
            back = threading.Thread(target=self.copy, args=(far, near), daemon=True)
            back.start()
            self.copy(near, far)
        except (OSError, ssl.SSLError):
            connection.close()

    @staticmethod
    def copy(source, target):
        try:
            for piece in iter(lambda: source.recv(65536), b""):
                target.sendall(piece)
        except (OSError, ssl.SSLError, ValueError):
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:  # the connection is closed already
                pass

    def log(self):
        return ""

    def kill(self):
        self.listener.close()


class Page:
    """A controller with a web server, and a browser that shows the controller's page. The cell ends
    both programs. With `who`, the page is served by TLS, and the browser has the certificate of the
    person `who`."""

    def __init__(self, cell, who=None):
        self.node = "browser"
        self.controller = Controller(cell, "c1", *(https(cell) if who else []))
        self.url = "http://127.0.0.1:%d/" % self.controller.port
        if who:
            wait("the records", lambda: self.controller.status("GET", "/v1/state", who=who) == 200)
            self.url = self.url_for(cell, who)
        self.browser = Browser(cell.make("browser"))
        cell.machines.append(self)
        self.browser.set_width(1440)
        self.browser.show(self.url)
        self.wait("live", "typeof at === 'function' && typeof cell !== 'undefined' &&"
                  " at('live').textContent === 'live' && cell !== null")

    def url_for(self, cell, who):
        """Returns the URL of the page with which the browser has the certificate of this person."""
        return "https://127.0.0.1:%d/" % Passage(cell, self.controller.port, who).port

    def wait(self, what, expression):
        return self.browser.wait(what, expression)

    def log(self):
        return "the page's text:\n" + self.browser.evaluate("document.body.innerText")[-3000:]

    def kill(self):
        self.browser.close()

    def text(self, name):
        return self.browser.evaluate("at('%s').innerText" % name)

    def says(self, name, text):
        """Waits until the part `name` of the page shows the text."""
        try:
            self.wait(text, "at(%r) && at(%r).innerText.includes(%r)" % (name, name, text))
        except AssertionError as error:
            raise AssertionError("%s; it says: %s" % (error, self.text(name))) from error

    def stages(self, rollout):
        """Returns the stage of each node in the rollout's picture."""
        return self.browser.evaluate(
            "Object.fromEntries([...document.querySelectorAll('#rollout-%s a[data-node]')]"
            ".map(cell => [cell.dataset.node, cell.dataset.stage]))" % rollout)

    def fits(self, name):
        """Checks at each screen width that no part of the page is wider than the screen. Keeps
        screenshots if PICTURES is set."""
        for width in WIDTHS:
            self.browser.set_width(width)
            self.wait("the width", "innerWidth === %d" % width)
            same(self.browser.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)
            if PICTURES:
                for dark in (False, True):
                    self.browser.set_dark(dark)
                    self.browser.picture(os.path.join(
                        PICTURES, "%s-%d%s.png" % (name, width, "-dark" if dark else "")))
                self.browser.set_dark(False)

    def accessible(self):
        """Checks the page as screen readers see it: each part that can be used has a name, and the
        headings skip no level. Returns the role and the name of each part. If the page shows a
        dialogue, only the dialogue's parts are returned."""
        parts = self.browser.roles()
        usable = ("button", "link", "textbox", "searchbox", "DisclosureTriangle", "dialog",
                  "region", "figure", "article", "group")
        nameless = [role for role, name, _ in parts if role in usable and not name]
        same(nameless, [])
        levels = [level for role, _, level in parts if role == "heading"]
        same([pair for pair in zip(levels, levels[1:]) if pair[1] > pair[0] + 1], [])
        if not any(role == "dialog" for role, _, _ in parts):
            same([part for part in parts if part[0] == "heading" and part[2] == 1],
                 [("heading", "May I sleep?", 1)])
        return [(role, name) for role, name, _ in parts]

    def reach(self, key):
        """Presses the Tab key until the part whose `data-key` or id is `key` has the focus. Checks
        that the focus is visible."""
        for _keys_at_most in range(300):
            self.browser.press("Tab")
            if self.browser.evaluate("document.activeElement.dataset.key || "
                                     "document.activeElement.id") == key:
                break
        else:
            raise AssertionError("Tab does not reach " + key)
        assert self.browser.evaluate(
            "getComputedStyle(document.activeElement).outlineStyle") != "none", key


def alive(machine, version):
    wait(version + " on " + machine.node, lambda: machine.runs(version))
