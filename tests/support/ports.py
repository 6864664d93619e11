# Chooses ports for the programs that a test starts.
import random
import socket


def free_port():
    """Returns a port of 127.0.0.1 on which no process listens now. The port is below those that the
    kernel gives to outgoing connections, if there is one below. So no connection of another test
    gets the port before the program listens on it."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        end = int(file.read().split()[0])
    for _ in range(1_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", random.randrange(10_000, end) if end > 10_000 else 0))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise OSError("no port of 127.0.0.1 is free")
