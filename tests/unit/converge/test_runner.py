"""The runner with a real ansible-playbook, on this machine alone, with a play that does nothing."""

from pathlib import Path

import pytest

from gpuprov.converge.runner import _environment, _run, _Watch
from gpuprov.model.progress import ignore_progress

PLAY = """\
- name: Say what the environment holds
  hosts: all
  gather_facts: false
  tasks:
    - name: Show
      ansible.builtin.debug:
        msg: "{{ lookup('ansible.builtin.env', 'GPUPROV_BECOME_PASSWORD') | length }} characters"
"""


@pytest.mark.timeout(120)
def test_no_secret_of_the_environment_stays_in_the_run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUPROV_BECOME_PASSWORD", "s3cr3t-of-sudo")
    monkeypatch.setenv("SOME_TOKEN", "s3cr3t-of-the-user")
    playbooks, private, short = (tmp_path / name for name in ("playbooks", "private", "short"))
    for folder in (playbooks, private, short):
        folder.mkdir()
    (playbooks / "site.yml").write_text(PLAY, encoding="utf-8")
    (playbooks / "ansible.cfg").write_text("", encoding="utf-8")
    inventory = private / "inventory.yml"
    inventory.write_text("all: {hosts: {here: {ansible_connection: local}}}\n", encoding="utf-8")
    watch = _Watch(tallies={}, report=ignore_progress, cancel=None)
    status = _run(private, playbooks, ["-i", str(inventory)], _environment(playbooks, short, 1), watch)
    assert status == "successful"
    assert "0 characters" in (private / "artifacts" / "play" / "stdout").read_text(encoding="utf-8")
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and b"s3cr3t" in path.read_bytes()]
    assert holding == []
