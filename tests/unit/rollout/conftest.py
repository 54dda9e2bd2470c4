"""The hosts of these tests are made of data: nobody has to wait for them."""

import pytest


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll fast."""
    for module in ("reboot", "proof", "drain", "slurm"):
        monkeypatch.setattr(f"gpuprov.rollout.{module}._POLL_SECONDS", 0.01)
    monkeypatch.setattr("gpuprov.rollout.slurm._RETURN_SECONDS", 0.2)
