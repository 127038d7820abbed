# SPDX-License-Identifier: Apache-2.0
"""Gives a process something of everything that is counted."""
import os
import resource
import select
import socket
import tempfile
import threading
import time

WRITTEN_BYTES = 3 << 20
THREADS = 5
CPU_SECONDS = 0.05

kept = []  # what must stay open


def keep(thing):
    kept.append(thing)
    return thing


def run_on_one_cpu():
    """So that the CPU it ran on last is known."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def open_files():
    """Descriptors of every kind; only some are files with a name."""
    named = keep(tempfile.NamedTemporaryFile(prefix="sonde-test-"))
    keep(open(named.name, "rb"))
    keep(tempfile.TemporaryFile())  # has no name, or has lost it
    keep(os.pipe())
    keep(os.memfd_create("sonde-test"))
    keep(select.epoll())
    keep(os.pidfd_open(os.getpid()))
    keep(open("/proc/self/ns/net", "rb"))  # looks like a regular file but has no path
    keep(open("/dev/null", "rb"))
    return named


def open_sockets():
    """Four connections as psutil counts them (listening, both ends, UDP with a port) and others."""
    listening = keep(socket.create_server(("127.0.0.1", 0)))
    near = keep(socket.create_connection(listening.getsockname()))
    keep(listening.accept()[0])
    keep(near.dup())  # the same connection again
    udp = keep(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    udp.bind(("127.0.0.1", 0))
    keep(socket.socket())  # neither bound nor connected
    keep(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    keep(socket.socketpair())
    unix = keep(socket.socket(socket.AF_UNIX))
    unix.bind("\0sonde-test-%d" % os.getpid())
    unix.listen()
    near.sendall(b"x" * 1000)


def start_threads():
    wait_for_ever = threading.Event()
    for _ in range(THREADS - 1):
        threading.Thread(target=wait_for_ever.wait, daemon=True).start()


def burn(clock, seconds):
    until = clock() + seconds
    while clock() < until:
        for _ in range(200):
            os.getppid()


def reap_child():
    child = os.fork()
    if child == 0:
        burn(time.process_time, CPU_SECONDS)
        os._exit(0)
    os.waitpid(child, 0)


def do_io(file):
    file.write(b"y" * WRITTEN_BYTES)
    file.flush()
    os.fsync(file.fileno())
    with open(file.name, "rb") as again:
        while again.read(65536):
            pass


def burn_user_and_system():
    """Until both are at least CPU_SECONDS, whatever the kernel makes of it."""
    for _ in range(100):
        used = resource.getrusage(resource.RUSAGE_SELF)
        if min(used.ru_utime, used.ru_stime) >= CPU_SECONDS:
            return
        burn(time.process_time, CPU_SECONDS / 2)


def do_everything():
    run_on_one_cpu()
    named = open_files()
    open_sockets()
    do_io(named)
    reap_child()
    burn_user_and_system()
    start_threads()
