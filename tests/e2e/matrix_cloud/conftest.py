"""Trials of the cloud's fault matrix: each has an account of its own, on paper: no node is booted."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from lab_account import lab_account
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.lab.aws.plugin.server import PluginServer
from gpuprov.model.progress import ignore_progress
from tests.e2e.matrix_cloud.trial import Trial


@pytest.fixture(scope="session")
def new_trial(tmp_path_factory: pytest.TempPathFactory) -> Callable[[ExitStack], Trial]:
    """Makes a trial in an empty account, which goes with the stack of contexts."""

    def make(ending: ExitStack) -> Trial:
        for service in ("iam", "s3"):
            get_backend(service)[DEFAULT_ACCOUNT_ID]["aws"].reset()
        folder: Path = tmp_path_factory.mktemp("trial")
        cloud = ending.enter_context(lab_account(folder))
        server = PluginServer(endpoint=cloud.endpoint)
        server.start()
        ending.callback(server.stop)
        return Trial(folder=folder, cloud=cloud, port=server.port)

    return make


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
