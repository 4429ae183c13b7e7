"""A server that runs already, for one block of a sweep: proven to be the build, watched, and left as it is.

Belongs here: what a sweep asks of it meanwhile. Not here: what it is (standing_server.py), and servers of ours
(running_server.py), which this one looks like from outside.
"""

import http.client
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pipeline.builds.fingerprint import ServerFacts
from pipeline.errors import EngineError
from pipeline.sweep.launch_line import ServerPlan
from pipeline.sweep.server_end import FAILURES
from resources.built import Built
from resources.server_answers import Address, counters, flush
from resources.standing_server import address_of, proven_server, served_model

LOOK_TIMEOUT_S = 5.0
SECONDS_BETWEEN_LOOKS = 2.0
PATIENCE_S = 30.0
"""How long it may not answer before it counts as ended: under load it may be slow to."""


@dataclass
class BorrowedServer:
    """Somebody else's server, while a sweep measures it."""

    engine: str
    model_name: str
    address: Address
    patience_s: float = PATIENCE_S
    _looked_s: float = field(default=0.0)
    _silent_since_s: float | None = field(default=None)
    _ended: str | None = field(default=None)

    @property
    def url(self) -> str:
        """Where clients reach it."""
        return self.address.url

    @property
    def api_key(self) -> str:
        """The key that clients send; empty where it asks for none."""
        return self.address.api_key or ""

    def pids(self) -> set[int]:
        """None: which processes are its own is not known, even where it is on this host."""
        return set()

    def metrics(self) -> str:
        """Its counters as Prometheus text; empty where it does not answer."""
        return counters(self.address)

    def flush_cache(self) -> bool:
        """Reset the prefix cache; False where it has no such call, or does not do it."""
        return flush(self.address, self.engine)

    def ended(self) -> str | None:
        """None while it answers, else since when it does not. Fit to be asked several times a second.

        Where nobody listens any more it has ended; where nobody answers, after ``patience_s``.
        """
        if self._ended is None and time.monotonic() - self._looked_s > SECONDS_BETWEEN_LOOKS:
            self._look()
            self._looked_s = time.monotonic()
        return self._ended

    def _look(self) -> None:
        start_s = time.monotonic()
        try:
            status, _ = self.address.ask("/v1/models", timeout_s=LOOK_TIMEOUT_S)
            why = f"HTTP {status}" if status >= 500 else None
        except ConnectionRefusedError:
            self._ended = "does not answer any more: nobody listens at its address"
            return
        except (OSError, http.client.HTTPException) as error:
            why = str(error) or type(error).__name__
        if why is None:
            self._silent_since_s = None
            return
        self._silent_since_s = self._silent_since_s or start_s
        silent_s = time.monotonic() - self._silent_since_s
        if silent_s >= self.patience_s:
            self._ended = f"does not answer for {silent_s:.0f} s: {why}"


def borrowed(built: Built, plan: ServerPlan, timeout_s: float, say: Callable[[str], None]) -> BorrowedServer:
    """The running server of a build, after it generated a token.

    Raises BuildError where it does not answer or contradicts its block, and EngineError where another one answers than
    when it was built: another model, version or argument.
    """
    server = built.build.server
    assert server
    proven = proven_server(server, plan.build, timeout_s)
    facts: ServerFacts = proven["server"]
    if proven["build_hash"] != built.fingerprint.build_hash:
        raise EngineError(
            FAILURES["stranger"],
            where=plan.build,
            expected=f"what answered when it was built ({built.fingerprint.build_hash})",
            found=f"another model, version or argument ({proven['build_hash']})",
            next_step=f"Run frontier build {plan.build} if that is meant to be so.",
            kind="stranger",
        )
    say(f"{plan.build}: answers; it was not started here, and it is left as it is")
    return BorrowedServer(
        engine=plan.engine,
        model_name=served_model(server, facts.models, plan.build),
        address=address_of(server, plan.build),
    )
