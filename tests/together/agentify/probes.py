#!/usr/bin/env python3
"""Tests how --ready judges a server's answers by http and https: certificates, redirections,
answers without an end, and servers that never answer. Ends with `N passed, N failed`."""

import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from double import begins, run_tests, stat_fields, tests_of, wait_until

GOOD = b"HTTP/1.1 204 Well\r\n\r\n"
# A word that occurs in every TLS library's message about a refused certificate.
NO_TRUST = "cert"
# The maximum number of parts of an endless answer. No connection can buffer so many parts, so
# agentify must close the connection before all of them are sent.
PARTS = 1000000


class Server:
    """A server at one address. It keeps each request, and answers with the bytes `answer`. If
    `answer` is a function, the server does not answer, but calls the function with the
    connection."""

    def __init__(self, answer=GOOD, address="127.0.0.1", port=0, certificate=None):
        self.answer = answer
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate)
        self.requests = []
        self.listener = socket.create_server((address, port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.take_all, daemon=True).start()

    def take_all(self):
        while True:  # ends when __exit__() closes the listener
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        try:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection:
                self.requests += filter(None, [connection.recv(65536)])
                if callable(self.answer):
                    self.answer(connection)
                else:
                    connection.sendall(self.answer)
        except OSError:
            pass  # the client did not accept the certificate: ssl.SSLError is an OSError

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def certificate_for(stage, host):
    """Makes a key and a self-signed certificate for the host, and returns the path of their
    file."""
    path = stage.directory / (host + ".pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "30", "-subj", "/CN=" + host, "-addext", "subjectAltName=DNS:" + host,
         "-keyout", path, "-out", str(path) + ".crt"], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(str(path) + ".crt").read_text())
    return str(path)


def activated(stage, *options, **settings):
    return stage.agentify(
        *options, daemon=[shutil.which("tail"), "-f", "/dev/null"], **settings).activate()


def is_ready(one):
    one.expect("healthy")
    one.stop()
    assert one.wait() == 0


def is_not_ready(one, words):
    found = one.expect("status", text=begins("not ready: "))["text"]
    assert words.lower() in found.lower(), found
    one.stop("rollback")
    assert one.wait() == 0
    assert one.count("healthy") == 0


def refuses(stage, words, *options):
    one = stage.agentify(*options, daemon=["/bin/true"])
    found = one.expect("unfit")["reason"]
    assert words in found, found
    assert one.wait() == 1


def test_a_certificate_is_verified(stage):
    """agentify accepts a certificate from the file of --ca-file, and refuses another one with a
    reason"""
    with Server(certificate=certificate_for(stage, "localhost")) as server:
        url = f"https://localhost:{server.port}/well?x"
        is_ready(activated(stage, "--ready=" + url, f"--ca-file={stage.directory}/localhost.pem"))
        assert server.requests[-1].startswith(b"GET /well?x HTTP/1.1\r\nHost: localhost:")
        answered = len(server.requests)
        is_not_ready(activated(stage, "--ready=" + url), NO_TRUST)
        other = certificate_for(stage, "other")
        is_not_ready(activated(stage, "--ready=" + url, "--ca-file=" + other), NO_TRUST)
        assert len(server.requests) == answered


def test_a_certificate_is_for_one_host(stage):
    """--ca-file=none accepts any certificate, and is allowed only for addresses of the loopback
    device"""
    other = certificate_for(stage, "other.example")
    with Server(certificate=other) as server:
        url = f"https://localhost:{server.port}/"
        is_not_ready(activated(stage, "--ready=" + url, "--ca-file=" + other), NO_TRUST)
        is_ready(activated(stage, "--ready=" + url, "--ca-file=none"))
    refuses(stage, "--ca-file=none is for the loopback's addresses, and 192.0.2.1 is 192.0.2.1",
            "--ready=https://192.0.2.1/", "--ca-file=none")
    refuses(stage, "--ca-file=/no/such: No such file", "--ready=https://localhost/",
            "--ca-file=/no/such")


def test_health_by_https(stage):
    """a daemon with a certificate that is not trusted is sick: on trial, agentify says unfit"""
    trusted = certificate_for(stage, "localhost")
    stranger = certificate_for(stage, "stranger")
    for certificate, kind in ((trusted, "healthy"), (stranger, "unfit")):
        with Server(certificate=certificate) as server:
            one = activated_on_trial(stage, f"--health=https://localhost:{server.port}/",
                                     "--health-failures=1", "--settle=30ms",
                                     "--ca-file=" + trusted)
            one.expect(kind)
            one.stop("rollback")
            assert one.wait() == 0


def activated_on_trial(stage, *options):
    one = stage.agentify(*options, daemon=[shutil.which("tail"), "-f", "/dev/null"])
    return one.activate(trial_ms=60000, commit="healthy")


def test_plain_text_where_tls_is_asked_for(stage):
    """a probe by https refuses an answer in plain text, and a probe by http refuses TLS"""
    with Server() as server:
        is_not_ready(activated(stage, f"--ready=https://localhost:{server.port}/",
                               "--ca-file=none"), "SSL")
    with Server(certificate=certificate_for(stage, "localhost")) as server:
        one = activated(stage, f"--ready=http://localhost:{server.port}/")
        one.expect("status", text=begins("not ready: "))
        one.stop("rollback")
        assert one.wait() == 0


def test_a_redirection_is_not_followed(stage):
    """a redirection counts as a good answer, and agentify does not follow it"""
    with Server() as aim:
        moved = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{aim.port}/\r\n\r\n"
        with Server(moved.encode()) as server:
            is_ready(activated(stage, f"--ready=http://127.0.0.1:{server.port}/"))
        assert aim.requests == []


def without_end(first, more, ended):
    """Returns a function that answers a request: it sends `first`, and then `more` again and again
    until the client closes the connection."""
    def answer(connection):
        try:
            connection.sendall(first)
            for _ in range(PARTS):
                connection.sendall(more)
        finally:
            ended.set()
    return answer


def test_an_answer_without_an_end(stage):
    """agentify judges an answer by its head and does not read its body; it refuses a head without
    an end"""
    ended = threading.Event()
    with Server(without_end(b"HTTP/1.1 200 Well\r\n\r\n", b"x" * 65536, ended)) as server:
        is_ready(activated(stage, f"--ready=http://127.0.0.1:{server.port}/"))
        wait_until(ended.is_set, "the connection is closed")
    ended = threading.Event()
    with Server(without_end(b"HTTP/1.1 200 Well\r\n", b"x: " + b"x" * 1000 + b"\r\n",
                            ended)) as server:
        is_not_ready(activated(stage, f"--ready=http://127.0.0.1:{server.port}/"),
                     "head has more than 65536 bytes")
        wait_until(ended.is_set, "the connection is closed")


# Bad answers of a server, and for each answer the words with which agentify must report it.
BAD_ANSWERS = [(b"HTTP/1.1 503 Not Yet\r\n\r\n", "http: 503"),
               (b"HTTP/1.0 404 x\r\n\r\n", "http: 404"),
               (b"SSH-2.0-OpenSSH\r\n", "the answer is not one in HTTP"),
               (b"", "the connection was closed without an answer")]


def test_bad_answers_are_told(stage):
    """agentify reports every bad answer in words"""
    for answer, words in BAD_ANSWERS:
        with Server(answer) as server:
            is_not_ready(activated(stage, f"--ready=http://127.0.0.1:{server.port}/"), words)


def test_an_answer_before_a_reset(stage):
    """agentify judges an answer that has come before the connection was reset, also if the answer's
    head is so long that it is read in several parts"""
    def answer(connection):
        # While agentify is stopped, it cannot read the answer before the connection is reset.
        one.kill(signal.SIGSTOP)
        wait_until(lambda: stat_fields(one.pid)[0] == "T", "agentify is stopped")
        connection.sendall(head + b"Content-Length: 0\r\n\r\n")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()  # resets the connection
        one.kill(signal.SIGCONT)

    for head in [b"HTTP/1.1 401 No\r\n", b"HTTP/1.1 401 No\r\n" + b"x: 0123456789\r\n" * 4000]:
        with Server(answer) as server:
            one = stage.agentify(f"--ready=http://127.0.0.1:{server.port}/",
                                 daemon=[shutil.which("tail"), "-f", "/dev/null"])
            is_not_ready(one.activate(), "http: 401")


def test_a_server_that_never_answers(stage):
    """agentify gives up a probe without an answer in time; on trial, `unfit` says that the server
    has not answered"""
    never = threading.Event()
    with Server(lambda connection: never.wait()) as server:
        is_not_ready(activated(stage, f"--ready=http://127.0.0.1:{server.port}/"),
                     "no answer in time")
        one = stage.agentify(f"--ready=http://127.0.0.1:{server.port}/",
                             daemon=[shutil.which("tail"), "-f", "/dev/null"])
        one.activate(trial_ms=300, commit="healthy")
        found = one.expect("unfit")["reason"]
        assert found.startswith("the daemon is not ready: it has not answered (--ready=http"), found
        never.set()


# An /etc/hosts that gives the name `two` two addresses. In the test, the first address hangs, and
# the second one answers.
HOSTS = "127.0.0.2 two\n127.0.0.1 two\n"


def test_an_address_that_hangs_leaves_time_for_the_next(stage):
    """if the first address of a name hangs, agentify asks the next one, by http and by https; the
    certificate is for the name and not for an address"""
    (stage.directory / "hosts").write_text(HOSTS)
    hosts = ["/usr/bin/unshare", "--mount", "--map-root-user", "/bin/sh", "-c",
             'mount --bind "$0" /etc/hosts && exec "$@"', str(stage.directory / "hosts")]
    trusted = certificate_for(stage, "two")
    never = threading.Event()
    for scheme, certificate, options in (("http", None, []),
                                         ("https", trusted, ["--ca-file=" + trusted])):
        with Server(certificate=certificate) as server:
            with Server(lambda connection: never.wait(), "127.0.0.2", server.port):
                is_ready(activated(stage, f"--ready={scheme}://two:{server.port}/", *options,
                                   prefix=hosts))
            assert b"\r\nHost: two:" in server.requests[-1]
    never.set()


def test_no_proxy_is_asked(stage):
    """probes use no proxy, whatever the environment says"""
    with Server() as server:
        proxies = {"http_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1"}
        is_ready(activated(stage, f"--ready=http://127.0.0.1:{server.port}/", env=proxies))


if __name__ == "__main__":
    os.environ.pop("SSL_CERT_FILE", None)
    run_tests(tests_of(globals()))
