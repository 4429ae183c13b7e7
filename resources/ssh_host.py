"""A host behind ssh: the sweep over there lives as long as this connection, and its files come as a tar archive."""

import io
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from pipeline.cell import GpuRun
from pipeline.errors import HostError
from pipeline.hosts.order import SweepOrder
from pipeline.hosts.ssh import connection, files_words, sweep_words
from pipeline.registry.hosts import SshHost
from resources.programs import surroundings

BEAT_S = 10.0
"""Between two signs of life on the input of the sweep over there, which ends after a minute without one."""

N_FILES_AT_ONCE = 400
"""Their names stand in one command line."""

NOT_CONNECTED = 255
"""Exit code of ssh itself, unless a signal ended it: everything else is the command's over there."""


@dataclass(frozen=True)
class SshConnections:
    """Connections to one host. ``grace_s`` is what a sweep over there is given to end a server and leave its device."""

    slug: str
    host: SshHost
    config: str = ""
    grace_s: float = 120.0
    files_timeout_s: float = 600.0

    @contextmanager
    def running(self, order: SweepOrder, pipes: Mapping[str, str]) -> Iterator[Iterator[str]]:
        """The lines of the sweep over there; leaving the block ends it, and waits for that. Raises HostError."""
        with tempfile.TemporaryFile() as errors:
            ssh = self._started(sweep_words(self.host, order, pipes), errors)
            beating = _Beating(ssh)
            try:
                yield self._lines(ssh, errors)
            finally:
                beating.end()
                _end(ssh, self.grace_s)

    def read(self, cell: GpuRun, files: Sequence[str]) -> dict[str, bytes]:
        """Some finished files of a cell. Raises HostError where one of them does not come."""
        contents: dict[str, bytes] = {}
        for start in range(0, len(files), N_FILES_AT_ONCE):
            contents |= self._read_some(cell, files[start : start + N_FILES_AT_ONCE])
        return contents

    def _read_some(self, cell: GpuRun, files: Sequence[str]) -> dict[str, bytes]:
        command = (*connection(self.host, self.config), files_words(self.host, cell, files))
        try:
            done = subprocess.run(
                command,
                env=surroundings({}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.files_timeout_s,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self._lost(str(error)) from error
        if done.returncode:
            raise self._lost(_tail(done.stderr))
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            members = [(member.name, archive.extractfile(member)) for member in archive if member.isfile()]
            return {name: content.read() for name, content in members if content and name in files}

    def _started(self, words: str, errors: IO[bytes]) -> "subprocess.Popen[str]":
        """Ssh in a session of its own: an interrupt from the terminal reaches the sweep by the end of its input."""
        try:
            return subprocess.Popen(
                (*connection(self.host, self.config), words),
                env=surroundings({}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise self._lost(str(error)) from error

    def _lines(self, ssh: "subprocess.Popen[str]", errors: IO[bytes]) -> Iterator[str]:
        for line in ssh.stdout or ():
            yield line.rstrip("\n")
        code = ssh.wait()
        errors.seek(0)
        if code == NOT_CONNECTED or code < 0:
            raise self._lost(_tail(errors.read()))
        if code:
            raise HostError(
                "its sweep ended without an answer",
                where=self.slug,
                found=f"exit code {code}, {_tail(errors.read())}",
                next_step=f"Try frontier sweep over there, in {self.host.checkout}; what is finished is kept.",
            )

    def _lost(self, said: str) -> HostError:
        return HostError(
            "is not reached over ssh, or the connection was lost",
            where=f"{self.slug} ({self.host.user}@{self.host.address})",
            found=said,
            next_step="What is finished over there is kept: when the host is back, run the same sweep again.",
        )


class _Beating:
    """Signs of life on the input of a process, from a thread, until they are ended."""

    def __init__(self, ssh: "subprocess.Popen[str]"):
        self._pipe, self._ended = ssh.stdin, threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_S):
            with suppress(OSError, ValueError):
                assert self._pipe
                self._pipe.write("\n")
                self._pipe.flush()

    def end(self) -> None:
        """No more of them."""
        self._ended.set()
        self._thread.join()


def _end(ssh: "subprocess.Popen[str]", grace_s: float) -> None:
    """Close the input, which ends the sweep over there, and wait for it; ssh itself is ended after the grace."""
    try:
        with suppress(ValueError):  # its output was read to the end and closed
            ssh.communicate(timeout=grace_s)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if ssh.poll() is None:
            ssh.kill()
            ssh.wait()


def _tail(said: bytes) -> str:
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-3:])[-400:] or "no output"
