"""A real ssh server on 127.0.0.1 with keys of its own; tests are skipped, with the reason, where there is none."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
PRIVILEGE_SEPARATION = Path("/run/sshd")


@dataclass(frozen=True)
class SshServer:
    """Where it listens, as whom one logs in, and a client's configuration that knows both keys."""

    port: int
    user: str
    config: Path
    known_hosts: Path
    process: "subprocess.Popen[bytes]"


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    if not Path(SSHD).exists() or not shutil.which("ssh"):
        pytest.skip("no ssh server is installed (Debian: openssh-server)")
    if os.getuid() == 0:
        PRIVILEGE_SEPARATION.mkdir(exist_ok=True)
    for name in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    port = _free_port()
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nPidFile none\nStrictModes no\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    known = folder / "known_hosts"
    known.write_text(f"[127.0.0.1]:{port} {(folder / 'host_key.pub').read_text()}")
    config = folder / "ssh_config"
    config.write_text(
        f"Host *\n  IdentityFile {folder}/user_key\n  IdentitiesOnly yes\n  UserKnownHostsFile {known}\n"
        "  GlobalKnownHostsFile none\n"
    )
    log = folder / "sshd.log"
    command = [SSHD, "-D", "-e", "-f", folder / "sshd_config"]
    with log.open("wb") as said, subprocess.Popen(command, stderr=said) as process:
        try:
            _wait_for(port, process, log)
            yield SshServer(port, getpass.getuser(), config, known, process)
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(100):
        if process.poll() is not None:
            pytest.skip(f"the ssh server does not start: {log.read_text().strip()[-300:]}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"the ssh server does not listen: {log.read_text()}")
