"""What holds for every test: none is skipped in silence; a plain one reaches neither network nor home.

A test marked `lab`, `network`, `slow` or `live` says what more it needs; any other one
runs as anybody, with an empty home and no way out but the loopback.
"""

import ipaddress
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from fault_table import show_table
from file_times import show_times
from hypothesis import settings
from sdk_leftovers import pass_over_leftovers

# A law's examples may each take long on a busy machine; the 30 s of a test are the limit. `make quick` tries fewer.
# CI draws the same examples every time, so that a change fails for what it did; a person's runs draw others.
_SAME = "CI" in os.environ
settings.register_profile("full", deadline=None, max_examples=100, derandomize=_SAME)
settings.register_profile("quick", deadline=None, max_examples=8, derandomize=_SAME)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("GPUPROV_TEST_LAWS", "full"))

# Cases are YAML; read by the loader written in Python they took a third of the time that collecting takes.
yaml.SafeLoader = yaml.CSafeLoader  # type: ignore[assignment, misc]

WIDER = ("lab", "network", "slow", "live", "matrix")
"""Markers of the tests that may leave the loopback and use the real home (the lab's bases are cached there)."""

_CLEARED_PREFIXES = ("ANSIBLE_", "AWS_", "GPUPROV_", "PULUMI_")
_KEPT_PREFIXES = ("GPUPROV_TEST_", "GPUPROV_LIVE_")
"""Variables of the tests themselves: a seed, for one, or the account of the live checks."""

_CLEARED = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "SSH_AUTH_SOCK", "VAULT_PASSWORD_FILE")
_OUTSIDE = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
"""Audit events by which a process reaches out, and the place of the address among their arguments."""


class OutsideError(Exception):
    """A plain test reached for the network; no OSError, so that no product code takes it for a network's failure."""


class _Guard:
    """The one switch of the audit hook, which Python cannot take away again."""

    closed = False
    attempts: list[str] = []  # noqa: RUF012 - one process, one guard


_skipped: set[str] = set()
_numbers = itertools.count()


def is_local(address: object) -> bool:
    """Whether an address of a socket call stays on this machine: a path, no host, or the loopback."""
    host = address[0] if isinstance(address, tuple) and address else address
    if isinstance(host, bytes | bytearray):
        host = host.decode(errors="replace")
    if host is None or not isinstance(host, str):
        return True
    if host in {"", "localhost"} or host.startswith(("/", "\0")):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # A name where only paths and addresses of AF_UNIX sockets are plain text.
        return not isinstance(address, tuple) and "/" in host


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    place = _OUTSIDE.get(event)
    if place is None or not _Guard.closed or is_local(arguments[place]):
        return
    _Guard.attempts.append(f"{event} {arguments[place]!r}")
    raise OutsideError(f"a test without a marker reached for the network: {event} {arguments[place]!r}")


def pytest_configure(config: pytest.Config) -> None:
    """Clear what would steer the product from outside, and set up the guard."""
    del config
    for name in list(os.environ):
        if name.startswith(_KEPT_PREFIXES):
            continue
        if name.startswith(_CLEARED_PREFIXES) or name in _CLEARED:
            del os.environ[name]
    sys.addaudithook(_audit)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Pass over what Pulumi's SDK leaves behind; after pytest has set its own hook."""
    del session
    pass_over_leftovers()


SHARED_LAB = (
    "test_onprem.py",
    "test_parity_matrix.py",
    "test_access.py",
    "test_container.py",
    "test_preflight.py",
    "test_rollback.py",
    "test_runs.py",
    "test_secrets.py",
    "test_slurm.py",
)
"""Files whose tests act on the one lab of the session: all of them run on one worker, for each worker has a session."""

LONG_FIRST = (
    *SHARED_LAB,
    "test_dkms.py",
    "test_cloud.py",
    "test_upgrade.py",
    "test_converge.py",
    "test_bad_hosts.py",
    "test_one_of_each.py",
    "test_bad_cloud.py",
)
"""What takes minutes begins first, so that all workers end at about the same time."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes minutes; leave out the live tests unless they are asked for by name (`-m live`)."""
    for item in items:
        _refuse_a_lab_of_two_workers(item)
    items.sort(key=lambda item: LONG_FIRST.index(item.path.name) if item.path.name in LONG_FIRST else len(LONG_FIRST))
    asked = str(config.getoption("markexpr"))
    if "live" in asked.replace("not live", ""):
        return
    live = [item for item in items if item.get_closest_marker("live")]
    if live:
        config.hook.pytest_deselected(items=live)
        items[:] = [item for item in items if not item.get_closest_marker("live")]


def _refuse_a_lab_of_two_workers(item: pytest.Item) -> None:
    shared = "site" in getattr(item, "fixturenames", ()) and not hasattr(getattr(item, "module", None), "site")
    if shared and item.get_closest_marker("lab") and item.path.name not in SHARED_LAB:
        raise pytest.UsageError(f"{item.path.name} uses the session's lab: name it in SHARED_LAB of tests/conftest.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give each worker whole files, and all that use the session's lab to one of them."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 - only where there are workers

    class ByLab(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "the session's lab" if Path(file).name in SHARED_LAB else file

    return ByLab(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail, not skip, a test of the lab that is run without root: a green run must mean that it ran."""
    if item.get_closest_marker("lab") and os.geteuid() != 0:
        pytest.fail("the lab needs root: run `make test`, or deselect with -m 'not lab'", pytrace=False)


@pytest.fixture(autouse=True)
def _apart(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give a plain test a home of its own and close the network for it."""
    if any(request.node.get_closest_marker(name) for name in WIDER):
        yield
        return
    # Not `mktemp(numbered=True)`: it lists all the homes before to find the next number.
    home = tmp_path_factory.mktemp(f"home-{next(_numbers)}", numbered=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name, folder in (("CACHE", ".cache"), ("CONFIG", ".config"), ("STATE", ".local/state")):
            patch.setenv(f"XDG_{name}_HOME", str(home / folder))
        patch.setenv("XDG_RUNTIME_DIR", str(home))
        _Guard.attempts.clear()
        _Guard.closed = True
        try:
            yield
        finally:
            _Guard.closed = False
    if _Guard.attempts:
        pytest.fail(f"reached for the network: {'; '.join(_Guard.attempts)}", pytrace=False)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that was skipped."""
    if report.skipped and not hasattr(report, "wasxfail") and "live" not in report.keywords:
        _skipped.add(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a module that was skipped whole."""
    if report.skipped:
        _skipped.add(report.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object, error: object) -> None:
    """Take over what a worker noted: pytest-xdist does not hand on a skipped module."""
    del error
    _skipped.update(getattr(node, "workeroutput", {}).get("skipped", ()))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn a run with a skipped test into a failed one."""
    workeroutput = getattr(session.config, "workeroutput", None)
    if workeroutput is not None:
        workeroutput["skipped"] = sorted(_skipped)
    elif _skipped and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the table of the faults that were tried, and say why a run without a failed test failed."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    show_table(reports, terminalreporter.section, terminalreporter.line)
    if terminalreporter.config.getoption("durations") is not None:
        timed = (report for found in terminalreporter.stats.values() for report in found)
        show_times(
            (r for r in timed if isinstance(r, pytest.TestReport)), terminalreporter.section, terminalreporter.line
        )
    if _skipped:
        terminalreporter.section("skipped: this fails the run", red=True)
        for nodeid in sorted(_skipped):
            terminalreporter.line(nodeid)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder of the checkout."""
    return Path(__file__).resolve().parent.parent
