"""Trials of the cloud's fault matrix: each has an account of its own, on paper: no node is booted."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from lab_account import Cloud, lab_account
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.lab.aws.plugin.server import PluginServer
from gpuprov.model.progress import ignore_progress
from tests.e2e.matrix_cloud.struck import Site
from tests.e2e.matrix_cloud.trial import Trial


@pytest.fixture(scope="session")
def new_trial(tmp_path_factory: pytest.TempPathFactory) -> Callable[[ExitStack], Trial]:
    """Makes a trial in an empty account, which goes with the stack of contexts."""

    def make(ending: ExitStack) -> Trial:
        folder: Path = tmp_path_factory.mktemp("trial")
        cloud, port = _empty_account(folder, ending)
        return Trial(folder=folder, cloud=cloud, port=port)

    return make


@pytest.fixture(scope="session")
def new_site(tmp_path_factory: pytest.TempPathFactory) -> Callable[[ExitStack], Site]:
    """Makes a spec's folder and an empty account, which go with the stack of contexts."""

    def make(ending: ExitStack) -> Site:
        folder: Path = tmp_path_factory.mktemp("site")
        cloud, port = _empty_account(folder, ending)
        return Site(folder=folder, cloud=cloud, port=port)

    return make


def _empty_account(folder: Path, ending: ExitStack) -> tuple[Cloud, int]:
    """An account, and the port of a plugin for it."""
    for service in ("iam", "s3"):
        get_backend(service)[DEFAULT_ACCOUNT_ID]["aws"].reset()
    cloud = ending.enter_context(lab_account(folder))
    server = PluginServer(endpoint=cloud.endpoint)
    server.start()
    ending.callback(server.stop)
    return cloud, server.port


@pytest.fixture
def site(new_site: Callable[[ExitStack], Site]) -> Iterator[Site]:
    """A spec's folder and an account of its own."""
    with ExitStack() as ending:
        yield new_site(ending)


@pytest.fixture
def trial(new_trial: Callable[[ExitStack], Trial]) -> Iterator[Trial]:
    """One trial."""
    with ExitStack() as ending:
        yield new_trial(ending)


@pytest.fixture(scope="session")
def whole(new_trial: Callable[[ExitStack], Trial]) -> Counter[str]:
    """How many of each kind a stack has that nothing ever struck."""
    with ExitStack() as ending:
        clean = new_trial(ending)
        assert clean.stack().apply(clean.asked, report=ignore_progress).diagnostics == ()
        return clean.counts()


@pytest.fixture(scope="session")
def whole_site(new_site: Callable[[ExitStack], Site]) -> Counter[str]:
    """How many of each kind `up` makes that nothing ever struck."""
    with ExitStack() as ending:
        site = new_site(ending)
        done = site.run("up")
        assert done.status == 0, done
        assert site.run("up").status == 0
        return site.counts()
