# An HTTP server for tests. It serves a directory well, except files for which a test has ordered a
# fault: a cut, a wrong length, a redirection, a delay, other bytes at the second read, or no
# support of ranges.
import http.server
import os
import ssl
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        double = self.server.double
        with double.changed:
            double.requests.append((self.path, self.headers.get("Range")))
            double.changed.notify_all()
        how = double.faults.get(self.path)
        if how and how[0]:
            return how.pop(0)(self)
        return self.serve()

    def content(self):
        path = os.path.join(self.server.double.directory, self.path.lstrip("/"))
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    def serve(self, content=None, cut=None, length=None, ranges=True):
        """Serves a file. A test may set other bytes (`content`), the number of bytes after which
        the answer is `cut` off, or a wrong `length`. Without `ranges`, always serves the whole
        file."""
        content = self.content() if content is None else content
        if content is None:
            return self.send_error(404)
        begin, wanted = 0, self.headers.get("Range")
        if wanted and ranges:
            begin = int(wanted.split("=")[1].split("-")[0])
            if begin >= len(content):
                self.send_response(416)
                self.send_header("Content-Length", "0")
                return self.end_headers()
            self.send_response(206)
            self.send_header("Content-Range",
                             "bytes %d-%d/%d" % (begin, len(content) - 1, len(content)))
        else:
            self.send_response(200)
        rest = content[begin:]
        self.send_header("Content-Length", str(len(rest) if length is None else length))
        if length is not None or cut is not None:
            self.close_connection = True
        self.end_headers()
        self.wfile.write(rest if cut is None else rest[:cut])
        return None

    def redirect(self, where):
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Double:
    def __init__(self, directory, identity=None):
        """Serves by https if `identity` is given: the paths of a certificate and of its key."""
        self.directory = directory
        self.requests = []  # pairs of the requested path and range
        self.changed = threading.Condition()   # notified at each further request
        self.faults = {}  # for each path, the faults of its next answers in their order
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.scheme = "https" if identity else "http"
        if identity:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*identity)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.server.daemon_threads = True
        self.server.double = self
        # Prints no error messages: clients hang up after an answer that was cut off, which is not
        # an error here.
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def url(self, name=""):
        return "%s://127.0.0.1:%d/%s" % (self.scheme, self.server.server_address[1], name)

    def fails(self, path, *deeds):
        self.faults["/" + path] = list(deeds) + [None]

    def ranges_of(self, path):
        return [wanted for asked, wanted in self.requests if asked == "/" + path]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
