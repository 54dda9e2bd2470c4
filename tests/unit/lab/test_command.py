import pytest

from gpuprov.lab import command
from gpuprov.model.diagnostic import GpuprovError


def test_a_program_gets_its_input_and_gives_its_output() -> None:
    assert command.run(["cat"], stdin="text") == "text"
    assert command.run(["cat"]) == ""


def test_a_failure_tells_status_command_and_words() -> None:
    with pytest.raises(GpuprovError) as caught:
        command.run(["sh", "-c", "echo reason >&2; exit 3"])
    (told,) = caught.value.diagnostics
    assert "status 3" in told.summary
    assert told.detail.endswith("\nreason")


def test_a_program_that_takes_too_long_is_ended() -> None:
    with pytest.raises(GpuprovError, match="did not end within 0 s"):
        command.run(["sleep", "20"], timeout=0.1)


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GpuprovError) as caught:
        command.run(["gpuprov-no-such-program"])
    assert "gpuprov-no-such-program" in caught.value.diagnostics[0].summary
    monkeypatch.setattr(command.shutil, "which", lambda name: None if name in ("nft", "ip") else name)
    with pytest.raises(GpuprovError) as caught:
        command.require_programs()
    assert caught.value.diagnostics[0].hint == "apt-get install iproute2 nftables"
