"""Real daemons for tests. Each version of a daemon is a release: a directory with a script `run`
and the daemon's configuration. Each daemon has one good version and several bad versions. The
module also has a client that sends requests without a pause."""

import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path

PYTHON = sys.executable


def postgres_directory():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return str(found[-1]) if found else ""


# Shell commands that run before a daemon starts, and record whether an earlier daemon still runs.
# First, the commands try to take a lock that the processes of the earlier daemon have inherited.
# Some daemons close the inherited descriptor of the lock. Therefore the commands also look for the
# process that the earlier daemon's pid file names.
WITNESS = """if [ "$1" != -t ]; then
  word=alone
  exec 9>>$DIR/witness
  flock --nonblock 9 || word=two
  one=
  read -r one <$DIR/pid
  read -r _ _ state _ </proc/${one:-nobody}/stat && [ "$state" != Z ] && word=two
  echo $word >>$DIR/starts
fi 2>>$DIR/witness
"""


class Service:
    """A daemon with all that the tests need to know about it. `port` is the daemon's port,
    `directory` is shared by all releases, and `here`, in scripts, is the directory of the release.
    """

    name = ""
    packages = ()
    options = ()
    passes_sockets = False
    floods = False
    forks = False

    def __init__(self, directory, port):
        self.directory = directory
        self.port = port

    def prepare(self):
        """Makes the files that must exist before the first start."""

    def files(self, version):
        """Returns the other files of a release, by their names: all files except the script
        `run`."""
        del version
        return {}

    def script(self, version):
        """Returns the end of the release's script `run`. write() puts the same beginning before it
        for all daemons."""
        raise NotImplementedError

    def ask(self):
        """Makes one request; raises OSError if it is lost."""
        raise NotImplementedError

    # ---- the bad versions of a release: the beginning of a version's name says how the version
    # fails

    def write(self, version):
        release = self.directory / version
        release.mkdir()
        for name, text in self.files(version).items():
            (release / name).write_text(text)
        wrong = {"dies": "test \"$1\" = -t && exit 0\necho dying >&2\nexit 3\n",
                 "never": "test \"$1\" = -t && exit 0\nexec tail -f /dev/null\n"}
        text = next((text for kind, text in wrong.items() if version.startswith(kind)),
                    self.script(version))
        run = release / "run"
        run.write_text(f"#!/bin/sh\nhere=$(dirname \"$0\")\nDIR={self.directory}\n{WITNESS}{text}")
        run.chmod(0o755)
        return run


def http_get(port):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
        one.sendall(b"GET / HTTP/1.0\r\n\r\n")
        answer = b""
        for _ in range(10_000):  # a limit, in case the answer never ends
            data = one.recv(4096)
            if not data:
                break
            answer += data
    if b" 200 " not in answer.split(b"\n", 1)[0]:
        raise ConnectionError("no answer: " + repr(answer[:60]))


class Nginx(Service):
    name = "nginx"
    packages = ("nginx-light",)
    passes_sockets = True
    mistake = "no_such_directive on;"

    def listens(self, version):
        del version
        return f"listen 127.0.0.1:{self.port};"

    @property
    def options(self):
        return ('--check="$AGENT_PROTOCOL_PROGRAM" -t', f"--ready=http://127.0.0.1:{self.port}/",
                "--stop=QUIT:10s,TERM:5s")

    def files(self, version):
        broken = self.mistake if version.startswith("broken") else ""
        return {"nginx.conf": f"""
worker_processes 2;
pid {self.directory}/nginx.pid;
error_log stderr crit;
{broken}
events {{ }}
http {{
  access_log off;
  client_body_temp_path {self.directory}/body;
  proxy_temp_path {self.directory}/proxy;
  fastcgi_temp_path {self.directory}/fastcgi;
  uwsgi_temp_path {self.directory}/uwsgi;
  scgi_temp_path {self.directory}/scgi;
  server {{ {self.listens(version)} return 200 "{version}\\n"; }}
}}
"""}

    def script(self, version):
        # nginx finds passed sockets through its own variable NGINX instead of LISTEN_FDS.
        return ('test -z "$LISTEN_FDS" || export NGINX="3;"\n'
                'exec nginx -p "$here" -c "$here/nginx.conf" -e stderr -g "daemon off;" "$@"\n')

    def ask(self):
        http_get(self.port)


class NginxReuseport(Nginx):
    """An nginx whose workers each have a socket of their own on the same port. Its broken version
    also listens at an address that no machine has, so `nginx -t` finds the fault only when it tries
    to use the port."""

    name = "nginx, reuseport"
    mistake = ""

    def listens(self, version):
        beyond = " listen 192.0.2.1:80;" if version.startswith("broken") else ""
        return f"listen 127.0.0.1:{self.port} reuseport;{beyond}"


class Redis(Service):
    name = "redis"
    packages = ("redis-server",)
    options = ('--check="$AGENT_PROTOCOL_PROGRAM" -t', "--ready=notify", "--stop=TERM:60s")

    def prepare(self):
        (self.directory / "data").mkdir()

    def files(self, version):
        broken = "no-such-directive yes\n" if version.startswith("broken") else ""
        return {"redis.conf": f"bind 127.0.0.1\nport {self.port}\nsupervised systemd\n"
                              f"dir {self.directory}/data\nsave 900 1\n{broken}"}

    def script(self, version):
        # redis cannot check a configuration without starting. So the check starts a second redis
        # without a port and without files, and succeeds if that redis still runs after half a
        # second.
        return ('if [ "$1" = -t ]; then\n'
                '  timeout 0.5 redis-server "$here/redis.conf" --port 0 --supervised no \\\n'
                '    --save "" --unixsocket $DIR/check.sock\n'
                '  test $? = 124\n  exit\nfi\n'
                'exec redis-server "$here/redis.conf"\n')

    def ask(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as one:
            one.sendall(b"PING\r\n")
            if not one.recv(100).startswith(b"+PONG"):
                raise ConnectionError("no answer")


class Postgres(Service):
    name = "PostgreSQL"
    packages = ("postgresql", "util-linux")
    as_user = "setpriv --reuid=postgres --regid=postgres --clear-groups "

    @property
    def options(self):
        ready = f"{postgres_directory()}/pg_isready -q -h 127.0.0.1 -p {self.port}"
        return ('--check="$AGENT_PROTOCOL_PROGRAM" -t', "--ready=exec:" + ready, "--stop=INT:80s")

    def prepare(self):
        data = self.directory / "data"
        data.mkdir()
        os.system(f"chown postgres {data} && {self.as_user} {postgres_directory()}/initdb -A trust "
                  f"-N -D {data} >{self.directory}/initdb.log 2>&1")

    def files(self, version):
        broken = "no_such_setting = on\n" if version.startswith("broken") else ""
        return {"postgresql.conf": f"listen_addresses = '127.0.0.1'\nport = {self.port}\n"
                                   f"unix_socket_directories = ''\nfsync = off\n{broken}"}

    def script(self, version):
        server = (f"exec {self.as_user} {postgres_directory()}/postgres -D $DIR/data "
                  '-c config_file="$here/postgresql.conf" '
                  "-c hba_file=$DIR/data/pg_hba.conf -c ident_file=$DIR/data/pg_ident.conf")
        return f'test "$1" != -t || {server} -C port\n{server}\n'

    def ask(self):
        body = struct.pack("!I", 196608) + b"user\0postgres\0database\0postgres\0\0"
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as one:
            one.sendall(struct.pack("!I", len(body) + 4) + body)
            # PostgreSQL works if its first answer is a request for authentication.
            if one.recv(1) != b"R":
                raise ConnectionError("no service")
            one.sendall(b"X\0\0\0\4")


class Living(Service):
    """A daemon that answers no requests. The pid in its own file shows whether it runs."""

    def ask(self):
        path = self.directory / "pid"
        try:
            pid = int(path.read_text())
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                if file.read().rsplit(")", 1)[1].split()[0] in "ZX":
                    raise ConnectionError("it has ended")
        except (ValueError, FileNotFoundError) as error:
            raise ConnectionError(str(error)) from error
        threading.Event().wait(0.0005)  # pauses, so that the daemon gets processor time


class Chronyd(Living):
    name = "chronyd, which forks"
    packages = ("chrony",)
    forks = True

    @property
    def options(self):
        return ('--check="$AGENT_PROTOCOL_PROGRAM" -t', f"--ready=file:{self.directory}/pid",
                "--stop=TERM:10s")

    def files(self, version):
        broken = "nosuchdirective\n" if version.startswith("broken") else ""
        return {"chrony.conf": f"port 0\ncmdport {self.port}\nuser root\n"
                               f"pidfile {self.directory}/pid\n"
                               f"bindcmdaddress 127.0.0.1\n{broken}"}

    def script(self, version):
        return ('test "$1" != -t || exec chronyd -p -f "$here/chrony.conf"\n'
                'exec chronyd -x -f "$here/chrony.conf"\n')


# The server waits for SIGTERM in a thread. A signal handler would run in the main thread, even
# while the main thread holds a lock of Python's threading module. To stop, the server starts a
# thread, which needs that lock. So a server that stops in a signal handler hangs from time to time.
SERVER = """
import http.server, os, signal, socket, sys, threading
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 100
    def server_bind(self):
        if os.environ.get("LISTEN_PID") == str(os.getpid()):
            self.socket.close()
            self.socket = socket.socket(fileno=3)
        else:
            super().server_bind()
        self.server_name, self.server_port = "here", 0
os.chdir(os.path.dirname(os.path.abspath(__file__)))
server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
server.daemon_threads = False
def end():
    signal.sigwait([signal.SIGTERM])
    server.shutdown()
threading.Thread(target=end).start()
server.serve_forever(0.01)
server.server_close()
"""


class PythonServer(Service):
    name = "http.server"
    packages = ("python3",)
    passes_sockets = True

    @property
    def options(self):
        return ('--check="$AGENT_PROTOCOL_PROGRAM" -t', f"--ready=http://127.0.0.1:{self.port}/",
                "--stop=TERM:10s")

    def files(self, version):
        broken = "import (" if version.startswith("broken") else ""
        return {"server.py": SERVER + broken, "index.html": version}

    def script(self, version):
        compiles = "import ast,sys; ast.parse(open(sys.argv[1]).read())"
        return (f'test "$1" != -t || exec {PYTHON} -c "{compiles}" "$here/server.py"\n'
                f'exec {PYTHON} "$here/server.py" {self.port}\n')

    def ask(self):
        http_get(self.port)


class Stubborn(Living):
    name = "a script that ignores SIGTERM"
    options = ('--check="$AGENT_PROTOCOL_PROGRAM" -t', "--ready=exec:test -s $READY",
               "--stop=TERM:100ms,KILL")

    @property
    def ready(self):
        return f"--ready=file:{self.directory}/pid"

    def script(self, version):
        broken = "exit 1" if version.startswith("broken") else "exit 0"
        return (f'test "$1" != -t || {broken}\ntrap "" TERM HUP\n'
                "setsid tail -f /dev/null &\n(trap '' TERM; tail -f /dev/null) &\n"
                "echo $$ >$DIR/pid\nwhile :; do tail -f /dev/null; done\n")


class Closer(Living):
    name = "closes its descriptors"

    def script(self, version):
        broken = "exit 1" if version.startswith("broken") else "exit 0"
        text = ("import os, signal, sys; open(sys.argv[1], 'w').write(str(os.getpid())); "
                "os.closerange(0, 4096); signal.pause()")
        return (f'test "$1" != -t || {broken}\nexec {PYTHON} -c "{text}" $DIR/pid\n')


class Flooder(Living):
    name = "floods its output"
    floods = True  # the daemon logs to a file, because a full pipe would lose lines

    def script(self, version):
        broken = "exit 1" if version.startswith("broken") else "exit 0"
        return (f'test "$1" != -t || {broken}\necho $$ >$DIR/pid\n'
                "while :; do yes flood | head -c 200000; timeout 0.2 tail -f /dev/null; done\n")


for each in (Stubborn, Closer, Flooder):
    stop = "--stop=TERM:100ms,KILL" if each is Stubborn else "--stop=TERM:10s"
    each.options = property(lambda self, stop=stop: (
        '--check="$AGENT_PROTOCOL_PROGRAM" -t', f"--ready=file:{self.directory}/pid", stop))

SERVICES = [Nginx, Redis, Postgres, Chronyd, PythonServer, Stubborn, Closer, Flooder]


class Client:
    """Sends requests without a pause, in a thread. Counts the lost ones, and measures the longest
    time between two answers."""

    def __init__(self, ask):
        self.ask = ask
        self.end = threading.Event()
        self.answered = self.lost = 0
        self.gap = 0.0
        self.last_error = None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join(60)

    def run(self):
        last = time.monotonic()
        while not self.end.is_set():
            try:
                self.ask()
                now = time.monotonic()
                self.gap = max(self.gap, now - last)
                last = now
                self.answered += 1
            except OSError as error:
                self.lost += 1
                self.last_error = error
                self.end.wait(0.001)
