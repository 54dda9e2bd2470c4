"""What other repositories include of this one: the action, the GitLab template, the pre-commit hooks, their examples.

Their scripts run here as the CI system would run them, against the real command line.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from host_builders import make_snapshot

from gpuprov.cli.main import gpuprov
from gpuprov.document.snapshot_text import write_snapshot

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github" / "actions" / "parity"
DEFINED = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
STEPS = {step.get("id") or step.get("name", ""): step for step in DEFINED["runs"]["steps"]}
INPUTS, OUTPUTS = DEFINED["inputs"], DEFINED["outputs"]
README = (ACTION / "README.md").read_text(encoding="utf-8")
EXAMPLES = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)]
GITLAB = (ROOT / ".gitlab" / "parity.yml").read_text(encoding="utf-8")
GITLAB_HEAD, GITLAB_JOBS = yaml.safe_load_all(GITLAB)
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
SPEC = """\
apiVersion: gpuprov/v1
name: t
os: debian-12
pools: {a: {gpu: none, onprem: {group: a}}}
targets: {onprem: {inventory: inventory/site.yml}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with three snapshots: two equal ones, and one of another GPU count."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name, gpus in (("a", 8), ("b", 8), ("c", 7)):
        snapshot = make_snapshot({"host.os": "debian-12", "gpu.count": gpus}, host=f"node-{name}")
        Path(f"{name}.json").write_text(write_snapshot(snapshot), encoding="utf-8")
    return tmp_path


def run(argv: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    """Run a script's shell with more environment."""
    return subprocess.run(argv, env={**os.environ, **env}, capture_output=True, text=True, check=False, timeout=60)


def compare(arguments: str, spec: str = "gpuprov.yaml") -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
    """Run the action's step as the runner does: its end, its outputs, and the job's summary."""
    script, output, summary = Path("step.sh"), Path("output"), Path("summary")
    script.write_text(STEPS["parity"]["run"], encoding="utf-8")
    for path in (output, summary):
        path.write_text("", encoding="utf-8")
    ended = run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        SPEC=spec,
        ARGUMENTS=arguments,
        REPORTS=INPUTS["reports"]["default"],
        GITHUB_OUTPUT=str(output),
        GITHUB_STEP_SUMMARY=str(summary),
    )
    outputs = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())
    return ended, outputs, summary.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("other", "status", "verdict"), [("b", 0, "in sync"), ("c", 7, "different")])
def test_the_action_ends_with_the_status_and_leaves_reports(other: str, status: int, verdict: str) -> None:
    ended, outputs, summary = compare(f"./a.json ./{other}.json")
    assert ended.returncode == status, ended.stderr
    assert outputs == {"status": str(status), "reports": "gpuprov-reports"}
    assert summary.startswith("### gpuprov parity")
    assert verdict in summary
    assert ("::error" in ended.stdout) is (status == 7)
    reports = sorted(path.name for path in Path("gpuprov-reports").iterdir())
    assert reports == sorted(f"parity.{end}" for end in ("html", "json", "md", "sarif", "xml"))


@pytest.mark.slow
def test_a_refused_command_line_leaves_no_report_of_an_earlier_run() -> None:
    compare("./a.json ./c.json")
    ended, outputs, summary = compare("./a.json ./b.json --no-such-flag")
    assert ended.returncode == 2
    assert outputs == {"status": "2"}
    assert summary == ""
    assert list(Path("gpuprov-reports").iterdir()) == []


@pytest.mark.slow
def test_an_argument_is_never_a_command_or_a_pattern(folder: Path) -> None:
    (folder / "x.json").write_text("{}", encoding="utf-8")
    ended, _, _ = compare('./a.json $(touch${IFS}broken)"; touch broken; *.json')
    assert ended.returncode == 2
    assert not Path("broken").exists()
    assert "*.json" in ended.stderr


def test_the_action_declares_what_it_uses() -> None:
    text = (ACTION / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(INPUTS)
    assert set(re.findall(r"steps\.parity\.outputs\.([\w-]+)", text)) == set(OUTPUTS)
    assert set(re.findall(r'echo "([\w-]+)=', STEPS["parity"]["run"])) == set(OUTPUTS)
    assert "${{" not in STEPS["parity"]["run"] + STEPS["Install gpuprov"]["run"]
    assert (ACTION / "../../..").resolve() == ROOT, "without a package the action installs this checkout"


def test_the_readme_tells_every_input_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", README, re.MULTILINE))
    assert set(rows) == set(INPUTS)
    for name, about in INPUTS.items():
        assert (f"`{about['default']}`" if about["default"] else "empty") in rows[name]


def steps_of(example: Any) -> list[Any]:
    return [step for job in example["jobs"].values() for step in job["steps"]]


def test_the_examples_are_one_for_pull_requests_and_one_for_the_night() -> None:
    # YAML 1.1 reads the key `on` as a truth value; GitHub does not.
    assert [sorted(example[True]) for example in EXAMPLES] == [["pull_request"], ["schedule", "workflow_dispatch"]]
    for example in EXAMPLES:
        assert example["permissions"]["contents"] == "read"


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["name"] for example in EXAMPLES])
def test_an_example_uses_what_the_action_has_and_flags_that_exist(example: Any) -> None:
    steps = steps_of(example)
    (ours,) = [step for step in steps if step.get("uses", "").endswith("/.github/actions/parity@main")]
    assert set(ours["with"]) <= set(INPUTS)
    parse(ours["with"]["arguments"])
    used = set(re.findall(r"steps\.parity\.outputs\.([\w-]+)", yaml.safe_dump(example)))
    assert used
    assert used <= set(OUTPUTS)
    reports = re.findall(r"outputs\.reports \}\}/(parity\.\w+)", yaml.safe_dump(example))
    assert reports
    assert [name for name in reports if name not in STEPS["parity"]["run"]] == []


def parse(arguments: str) -> None:
    """Have the real command line read the flags, without running anything."""
    command = gpuprov.get_command(click.Context(gpuprov), "parity")
    assert command is not None
    command.make_context("parity", shlex.split(arguments))


def test_what_the_defaults_and_the_prose_name_are_flags_that_exist() -> None:
    parse(INPUTS["arguments"]["default"])
    parse(GITLAB_HEAD["spec"]["inputs"]["arguments"]["default"])
    for text in (GITLAB, README):
        told = re.findall(r"`arguments: (.+?)`", text)
        assert told
        for arguments in told:
            parse(arguments)


@pytest.mark.slow
def test_the_gitlab_job_runs_and_its_reports_are_where_it_says() -> None:
    inputs = GITLAB_HEAD["spec"]["inputs"]
    text = yaml.safe_dump(GITLAB_JOBS)
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", text)) == set(inputs)
    assert "default" not in inputs["package"], "whose package that is, only the user can say"
    (job,) = GITLAB_JOBS.values()
    install, *script = job["script"]
    assert install.startswith("python -m pip install")
    ended = run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(script)],
        PARITY_SPEC="gpuprov.yaml",
        PARITY_ARGUMENTS="./a.json ./c.json",
    )
    assert ended.returncode == 7, ended.stderr
    assert "gpu.count" in ended.stdout
    assert Path(job["artifacts"]["reports"]["junit"]).read_text(encoding="utf-8").count("<failure") == 1
    assert sorted(path.name for path in Path("gpuprov-reports").iterdir()) == [
        "parity.html",
        "parity.json",
        "parity.xml",
    ]


def hook(name: str, *files: str, args: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a hook as pre-commit does: the words of its entry, its arguments, and the files that match."""
    matching = [file for file in files if re.search(HOOKS[name]["files"], file)]
    return run([*shlex.split(HOOKS[name]["entry"]), *args, *matching])


def write_specs(**specs: str) -> list[str]:
    paths = []
    for name, text in specs.items():
        Path(name).mkdir()
        paths.append(f"{name}/gpuprov.yaml")
        Path(paths[-1]).write_text(text, encoding="utf-8")
    return paths


@pytest.mark.slow
def test_the_hook_for_specs_checks_each_and_tells_of_the_bad_one() -> None:
    paths = write_specs(one=SPEC, two=SPEC.replace("name: t", "nam: t"), three=SPEC)
    ended = hook("gpuprov-validate", *paths, "two/other.yaml")
    assert ended.returncode == 2
    assert [path for path in paths if f"{path}: sound" in ended.stdout] == [paths[0], paths[2]]
    assert "GP-SPEC-001" in ended.stderr
    assert hook("gpuprov-validate", paths[0], paths[2]).returncode == 0


@pytest.mark.slow
def test_the_hook_for_locks_takes_its_flags_and_needs_a_lock() -> None:
    (path,) = write_specs(one=SPEC)
    ended = hook("gpuprov-lock", path, args=("--frozen",))
    assert ended.returncode == 2
    assert "GP-LOCK-005" in ended.stderr


@pytest.mark.slow
def test_the_hook_for_locks_checks_each_folder_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bin").mkdir()
    stand_in = folder / "bin" / "gpuprov"
    stand_in.write_text('#!/bin/sh\necho "$*"\ncase $* in *two*) exit 5;; esac\n', encoding="utf-8")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
    write_specs(one=SPEC, two=SPEC)
    Path("one/gpuprov.lock").touch()
    Path("gpuprov.yml").touch()
    files = ("one/gpuprov.lock", "one/gpuprov.yaml", "two/gpuprov.lock", "gpuprov.yml")
    ended = hook("gpuprov-lock", *files, args=("--frozen",))
    assert ended.returncode == 5
    folders = ("one/gpuprov.yaml", "two/gpuprov.yaml", "./gpuprov.yml")
    assert ended.stdout.splitlines() == [f"lock --check -f {spec} --frozen" for spec in folders]
