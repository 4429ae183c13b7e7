"""The examples of a login before the UI: nothing is reached without one, and only what is on this host is reached."""

import base64
import http.server
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.project.test_layers import CHECKOUT

FOLDER = CHECKOUT / "deploy" / "reverse_proxy"


def without_comments(name: str) -> str:
    return re.sub(r"#.*", "", (FOLDER / name).read_text(encoding="utf-8"))


def blocks(text: str, name: str) -> list[str]:
    """The bodies of the blocks of that name, whose braces balance."""
    found = []
    for begin in re.finditer(rf"(?m)^\s*{name}[^{{;\n]*{{", text):
        depth, end = 1, begin.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        found.append(text[begin.end() : end - 1])
    return found


def test_nginx_asks_for_a_login_on_https_and_sends_everything_else_there():
    plain, secure = blocks(without_comments("nginx.conf"), "server")
    assert re.search(r"listen 80;.*return 301 https://", plain, re.DOTALL)
    assert "proxy_pass" not in plain
    assert re.search(r'listen 443 ssl;.*auth_basic\s+"[^"]+";\s*auth_basic_user_file /', secure, re.DOTALL)
    assert "auth_basic off" not in secure


@pytest.mark.parametrize(("name", "word"), [("nginx.conf", "proxy_pass http://"), ("Caddyfile", "reverse_proxy ")])
def test_only_the_ui_of_this_host_is_reached_and_the_password_stays_outside(name, word):
    text = without_comments(name)
    assert re.findall(rf"{word}(\S+?)[;\s]", text) == ["127.0.0.1:3000"]
    assert 'proxy_set_header Authorization "";' in text or "header_up -Authorization" in text


def test_caddy_asks_for_a_login_and_ships_no_password():
    (site,) = blocks(without_comments("Caddyfile"), "frontier.example.org")
    (login,) = blocks(site, "basic_auth")
    assert login.split() == ["alice", "REPLACE_WITH_THE_HASH"]


class Upstream(http.server.BaseHTTPRequestHandler):
    """Stands for the UI: says whether a password reached it."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"password seen: {self.headers['Authorization']}".encode())

    def log_message(self, *_: object) -> None:
        """Quiet."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def nginx_config(folder: Path, port: int, ui: int) -> str:
    """The shipped file on other ports, with files of the folder."""
    text = (FOLDER / "nginx.conf").read_text(encoding="utf-8").replace("/etc/nginx/frontier", f"{folder}/frontier")
    text = text.replace("listen 80;", f"listen 127.0.0.1:{free_port()};").replace(
        "listen 443", f"listen 127.0.0.1:{port}"
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temp = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    http = f"access_log off;\n{temp}{text.replace('127.0.0.1:3000', f'127.0.0.1:{ui}')}"
    return f"daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n{http}\n}}\n"


def answer(port: int, login: str | None) -> tuple[int, str]:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    asked = urllib.request.Request(f"https://127.0.0.1:{port}/")
    if login:
        asked.add_header("Authorization", f"Basic {base64.b64encode(login.encode()).decode()}")
    try:
        with urllib.request.urlopen(asked, context=trusting) as said:
            return said.status, said.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


def test_nginx_lets_nobody_through_without_the_password_and_keeps_it_to_itself(tmp_path):
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is not installed here")
    (tmp_path / "frontier.htpasswd").write_text("alice:{PLAIN}secret\n")
    key = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x"]
    files = ["-keyout", str(tmp_path / "frontier.key"), "-out", str(tmp_path / "frontier.crt")]
    subprocess.run([*key, *files], check=True, capture_output=True)
    port = free_port()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream) as ui:
        threading.Thread(target=ui.serve_forever, daemon=True).start()
        (tmp_path / "whole.conf").write_text(
            "user root;\n" * (os.getuid() == 0) + nginx_config(tmp_path, port, ui.server_port)
        )
        server = subprocess.Popen([nginx, "-p", str(tmp_path), "-e", "stderr", "-c", str(tmp_path / "whole.conf")])
        try:
            while server.poll() is None and not listens(port):
                time.sleep(0.05)
            assert server.poll() is None
            assert [answer(port, login)[0] for login in (None, "alice:wrong", "bob:secret")] == [401, 401, 401]
            assert answer(port, "alice:secret") == (200, "password seen: None")
        finally:
            server.terminate()
            server.wait()
            ui.shutdown()
