"""PostgreSQL and Redis of one test: started on free ports of 127.0.0.1, stopped, started again, ended by their pid."""

import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PASSWORD = "not-for-the-broker"
"""Of both services; a test greps for it where it must not be."""
PATIENCE_S = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def postgres_program(name: str) -> Path:
    """Debian keeps them out of PATH, a folder a version. Skips the test where there is none."""
    found = [Path(p) for p in (shutil.which(name),) if p] + sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if not found:
        pytest.skip(f"PostgreSQL is not installed: no {name} (Debian: postgresql)")
    return found[-1]


def redis_program() -> str:
    found = shutil.which("redis-server")
    if not found:
        pytest.skip("Redis is not installed: no redis-server (Debian: redis-server)")
    return found


def somebody() -> dict[str, str]:
    """For Popen: PostgreSQL refuses to run as root, so root runs it as Debian's user of it."""
    return {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}


@dataclass
class Service:
    """One server process over a folder that outlives it."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), cwd=self.folder, stdout=log, stderr=log, start_new_session=True, **somebody()
            )
        deadline = time.monotonic() + PATIENCE_S
        while not answers(self.port):
            assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.1)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE_S)
        self.process = None


class Postgres(Service):
    """One database `frontier` of one user with a password."""

    def prepare(self) -> None:
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        if somebody():
            shutil.chown(self.folder, "postgres", "postgres")
            shutil.chown(secret, "postgres")
        flags = ["-D", "data", "-U", "frontier", "--pwfile=secret", "--auth=scram-sha-256", "--no-sync"]
        subprocess.run(
            [postgres_program("initdb"), *flags], cwd=self.folder, check=True, capture_output=True, **somebody()
        )
        self.start()
        create = [postgres_program("createdb"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "frontier", "frontier"]
        deadline = time.monotonic() + PATIENCE_S
        while subprocess.run(create, env={"PGPASSWORD": PASSWORD}, capture_output=True, check=False).returncode:
            assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.2)

    def command(self) -> list[str]:
        local = ["-c", f"port={self.port}", "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        return [str(postgres_program("postgres")), "-D", "data", *local, "-c", "fsync=off"]

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT is its fast shutdown: every connection is dropped."""
        super().stop(how)

    @property
    def url(self) -> str:
        return f"postgresql+psycopg2://frontier:{PASSWORD}@127.0.0.1:{self.port}/frontier"


class Redis(Service):
    """With a password and an append-only file: what is queued outlives a restart."""

    def prepare(self) -> None:
        if somebody():
            shutil.chown(self.folder, "postgres", "postgres")
        self.start()

    def command(self) -> list[str]:
        kept = ["--appendonly", "yes", "--save", "", "--dir", str(self.folder)]
        return [redis_program(), "--bind", "127.0.0.1", "--port", str(self.port), "--requirepass", PASSWORD, *kept]

    @property
    def url(self) -> str:
        return f"redis://:{PASSWORD}@127.0.0.1:{self.port}/0"
