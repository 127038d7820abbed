# SPDX-License-Identifier: Apache-2.0
"""What the server refuses: other addresses, other Hosts, bodies, wrong passwords, slow clients."""
import os
import re
import socket
import stat
import subprocess
import threading
import time

import pytest

from conftest import PROGRAM, SANITIZE, Server

SOAK = os.environ.get("SONDE_SOAK") == "1"


def raw(server, text, timeout=10):
    """What comes back for these bytes until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as client:
        client.sendall(text.encode("latin1"))
        got = b""
        while piece := client.recv(65536):
            got += piece
        return got.decode("latin1")


def status(server, text):
    answer = raw(server, text)
    return int(answer.split()[1]) if answer else None


@pytest.mark.parametrize("host, expected", [
    ("localhost", 200), ("127.0.0.1:1", 200), ("[::1]", 200), ("box.example", 200), ("evil.example", 421),
    ("localhost.evil.example", 421), ("", 421)])
def test_host(serve, host, expected):
    server = serve("--allow-host", "box.example,other")
    assert status(server, f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n") == expected


def test_security_headers(serve):
    for path in ("/metrics", "/healthz", "/none"):
        headers = serve().get(path)[1]
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store"
        assert not [name for name in headers if name.lower().startswith("access-control")]


HOST = "Host: localhost\r\nConnection: close\r\n"


@pytest.mark.parametrize("text, expected", [
    (f"POST /metrics HTTP/1.1\r\n{HOST}Content-Length: 1000000\r\n\r\n", {405}),
    (f"GET /metrics HTTP/1.1\r\n{HOST}Content-Length: 10\r\n\r\n0123456789", {413}),
    (f"GET /metrics HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", {400}),
    (f"GET /metrics HTTP/1.1\r\n{HOST}Host: evil.example\r\n\r\n", {400}),
    (f"DELETE /metrics HTTP/1.1\r\n{HOST}\r\n", {405}),
    (f"GET /metrics HTTP/1.1\r\n{HOST}X: {'a' * 100000}\r\n\r\n", {413, 431, None}),
    ("GET /metrics HTTP/1.1\r\n" + "X: y\r\n" * 10000 + "\r\n", {413, 431, None}),
    ("GET /metrics HTTP/1.1\r\n\r\n", {400, 421}),
    ("GET /metrics\r\n\r\n", {400, None}),
    ("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400, None}),
    ("GET  /metrics HTTP/9.9\r\n\r\n", {400, 421, 505, None}),
    ("\r\n" * 2000, {400, None}),
], ids=range(12))
def test_malformed(serve, text, expected):
    server = serve()
    try:
        got = status(server, text)
    except ConnectionError:
        got = None
    assert got in expected
    assert server.get("/healthz")[0] == 200


def start_wrong(environment, folder, *args):
    done = subprocess.run([PROGRAM, "serve", *map(str, args)], env=environment, cwd=folder, timeout=20,
                          capture_output=True, text=True)
    assert done.stderr.count("\n") == 1, done.stderr
    return done.returncode, done.stderr


def test_other_addresses_need_protection(environment, folder, serve):
    for where in (":0", "0.0.0.0:0", "[::]:0"):
        code, said = start_wrong(environment, folder, "--listen", where)
        assert code == 1 and "other machines could read it; give --web-config" in said
    (folder / "users.yml").write_text(f"basic_auth_users:\n  alice: {HASH}\n")  # a password, but no TLS
    assert start_wrong(environment, folder, "--listen", ":0", "--web-config", "users.yml")[0] == 1
    assert serve("--insecure-listen", listen="0.0.0.0:0").get("/healthz")[0] == 200


def test_wrong_command_lines(environment, folder):
    for args, said in [(("--listen", "nowhere"), "--listen: nowhere: there is no port"),
                       (("--interval", "soon"), "--interval: \"soon\" is not a time"),
                       (("--interval", "1us"), "--interval: expected a time from 10ms"),
                       (("--types", "moon"), "--types: \"moon\" is not a type"),
                       (("--profile", "x"), "--profile: expected sonde or pyveda"),
                       (("--web-config", "none.yml"), "none.yml")]:
        code, text = start_wrong(environment, folder, *args)
        assert code in (1, 2) and said in text
    (folder / "web.yml").write_text("rate_limit:\n  burst: 1\n")
    assert start_wrong(environment, folder, "--web-config", "web.yml") == (
        2, "sonde serve: web.yml:1:1: rate_limit is not honoured by sonde serve; remove it: "
           "connections are limited anyway, see docs/serving.md\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = start_wrong(environment, folder, "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
        assert code == 1 and "another program listens there" in said


def test_unix_socket(serve, folder):
    path = folder / "s.sock"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()  # as a server that was killed leaves it
    server = serve(listen=f"unix:{path}")
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    got = subprocess.run(["curl", "-sS", "--unix-socket", path, "http://anything/healthz"], capture_output=True,
                         text=True, check=True).stdout
    assert '"status":"ok"' in got
    server.process.terminate()
    server.process.wait(timeout=20)
    assert not path.exists()


HASH = "$2b$05$abcdefghijklmnopqrstuuwp5RHbHsIGr8wiMb6zVg3CqsGQNQSCu"


@pytest.fixture
def secured(folder, serve):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    made = subprocess.run(["htpasswd", "-nbBC", "5", "alice", "wonderland"], check=True, capture_output=True, text=True)
    (folder / "web.yml").write_text("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n"
                                    "  min_version: TLS13\nhttp_server_config:\n  headers:\n"
                                    "    Strict-Transport-Security: max-age=60\nbasic_auth_users:\n  "
                                    + made.stdout.strip().replace(":", ": ", 1) + "\n")
    return serve("--web-config", folder / "web.yml", listen="127.0.0.1:0", scheme="https")


def curl(folder, *args):
    done = subprocess.run(["curl", "-sS", "--max-time", "10", "--cacert", folder / "cert.pem", "-o", "/dev/null", "-D", "-",
                           "-w", "%{http_code}", *args], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_tls_and_password(secured, folder):
    url = secured.url + "/metrics"
    for user, expected in [("alice:wonderland", "200"), ("alice:wrong", "401"), ("bob:wonderland", "401"),
                           ("alice:", "401"), ("alice:wonderland", "200")]:
        code, out, err = curl(folder, "-u", user, url)
        assert (code, out[-3:]) == (0, expected), err
    code, out, _ = curl(folder, url)
    assert out[-3:] == "401" and 'Basic realm="sonde"' in out and "max-age=60" in out
    assert curl(folder, "--tls-max", "1.2", "-u", "alice:wonderland", url)[0] != 0  # min_version
    assert curl(folder, "-u", "alice:wonderland", url.replace("https", "http"))[0] != 0


def test_client_certificates(serve, folder):
    """RequireAndVerifyClientCert: no certificate, or one by somebody else, is not answered."""
    def make(name, *more):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem", "-days", "2", "-subj",
                        f"/CN={name}", *more], check=True, capture_output=True)
    make("cert", "-addext", "subjectAltName=IP:127.0.0.1")
    make("client")
    make("stranger")
    (folder / "web.yml").write_text("tls_server_config:\n  cert_file: cert.pem\n  key_file: cert.key\n"
                                    "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: client.pem\n")
    server = serve("--web-config", "web.yml", scheme="https")

    def code(*args):
        return curl(folder, *args, server.url + "/healthz")[1][-3:]
    assert code() == "403"
    assert code("--cert", folder / "stranger.pem", "--key", folder / "stranger.key") == "403"
    assert code("--cert", folder / "client.pem", "--key", folder / "client.key") == "200"


def test_guessing_does_not_hold_up_scrapes(secured, folder):
    """Wrong passwords cost a hash each, which is not computed where scrapes are answered."""
    stop = threading.Event()

    def guess():
        while not stop.is_set():
            curl(folder, "-u", "alice:guess", secured.url + "/metrics")
    threads = [threading.Thread(target=guess) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert curl(folder, "-u", "alice:wonderland", secured.url + "/metrics")[1][-3:] == "200"
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_header_has_five_seconds_whatever_is_sent(serve):
    server = serve()
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\n")
        client.settimeout(0.5)
        ended = None
        while ended is None and time.monotonic() - begun < 15:
            try:
                client.sendall(b"X-Drip: 1\r\n")
                ended = time.monotonic() if client.recv(4096) == b"" else None
            except TimeoutError:
                pass
            except OSError:
                ended = time.monotonic()
    assert ended and 4 < ended - begun < 8
    assert server.json("/healthz")["connections"]["expired"] == 1


def test_the_oldest_incomplete_makes_room(serve):
    server = serve()
    slow = []
    for _ in range(300):
        client = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
        slow.append(client)
    seen = server.json("/healthz")["connections"]
    assert seen["open"] <= 256 and seen["evicted"] >= 45
    assert slow[0].recv(10) == b""  # the first one went
    for client in slow:
        client.close()


class Scraper(threading.Thread):
    """Ordinary scrapes, one after the other."""

    def __init__(self, server):
        super().__init__()
        self.server, self.times, self.failed, self.stop = server, [], [], threading.Event()

    def run(self):
        while not self.stop.is_set():
            begun = time.perf_counter()
            try:
                code, _, body = self.server.get("/metrics", timeout=2)
                assert code == 200 and body.endswith(b"\n")
                self.times.append(time.perf_counter() - begun)
            except Exception as error:  # whatever it is, it is a scrape that failed
                self.failed.append(repr(error))
            self.stop.wait(0.02)


@pytest.mark.parametrize("mode", [["-H"], ["-B", "-t", "POST"], ["-X", "-w", "1", "-y", "10", "-n", "1", "-z", "8", "-k", "3"]],
                         ids=["headers", "body", "read"])
def test_slow_clients(serve, watched, folder, mode):
    connections, seconds = (1000, 20) if SOAK else (300, 4)
    watched("load", series=1000)
    server = serve()
    attack = subprocess.Popen(["slowhttptest", "-c", str(connections), *mode, "-r", "200", "-i", "2", "-x", "24", "-p", "3",
                               "-l", str(seconds), "-u", server.url + "/metrics"], stdout=subprocess.DEVNULL, cwd=folder,
                              stderr=subprocess.DEVNULL)
    scraper = Scraper(server)
    scraper.start()
    attack.wait(timeout=120)
    scraper.stop.set()
    scraper.join()
    times = sorted(scraper.times)
    assert scraper.failed == [] and len(times) > 20
    if not SANITIZE:
        assert times[int(len(times) * 0.99)] < 0.050, times[-5:]
    assert server.json("/healthz")["connections"]["accepted"] >= connections
