import subprocess
from pathlib import Path

import pytest
from settled_builders import TUNING

from gpuprov.spec.tuning import TuningSpec
from gpuprov.want.files import MARKER
from gpuprov.want.tuning import tuning_files, tuning_services, tuning_want


def texts(spec: TuningSpec, *, gpus: bool = True) -> dict[str, str]:
    return {file.path: file.text for file in tuning_files(tuning_want(spec, gpus=gpus))}


def test_settings_and_limits_become_files_in_one_order() -> None:
    found = texts(
        TuningSpec(sysctl={"vm.b": "1  2", "net.a.x": "3"}, limits={"nofile": "9", "memlock": "-1"}, hugepages=4)
    )
    assert found["/etc/sysctl.d/99-gpuprov.conf"] == f"{MARKER}\nnet.a.x = 3\nvm.b = 1 2\nvm.nr_hugepages = 4\n"
    assert found["/etc/security/limits.d/99-gpuprov.conf"].splitlines()[1:] == [
        "* soft memlock unlimited",
        "* hard memlock unlimited",
        "root soft memlock unlimited",
        "root hard memlock unlimited",
        "* soft nofile 9",
        "* hard nofile 9",
        "root soft nofile 9",
        "root hard nofile 9",
    ]


def test_a_unit_sets_what_no_file_can_and_gives_the_gpus_their_own_back() -> None:
    text = texts(TUNING)["/etc/systemd/system/gpuprov-tuning.service"]
    lines = [line.partition("=")[::2] for line in text.splitlines() if line.startswith("Exec")]
    assert [kind for kind, _ in lines] == ["ExecStart"] * 3 + ["ExecStop"] * 2
    assert "echo performance >$$f" in lines[0][1]
    assert lines[1][1] == "/usr/bin/nvidia-smi --power-limit=500"
    assert lines[2][1] == "/usr/bin/nvidia-smi --lock-gpu-clocks=1980,1980"
    assert "power.default_limit" in lines[3][1]
    (unit,) = tuning_services(tuning_want(TUNING, gpus=True))
    assert (unit.name, unit.gpu) == ("gpuprov-tuning", True)


def test_what_needs_gpus_is_only_for_hosts_that_have_them() -> None:
    want = tuning_want(TUNING, gpus=False)
    assert (want.power_limit, want.clocks, want.governor) == (None, None, "performance")
    (unit,) = tuning_services(want)
    assert unit.gpu is False
    assert "nvidia-smi" not in texts(TUNING, gpus=False)["/etc/systemd/system/gpuprov-tuning.service"]
    assert tuning_services(tuning_want(TuningSpec(power_limit=500), gpus=False)) == ()


def test_nothing_wanted_is_no_file() -> None:
    assert texts(TuningSpec()) == {}


@pytest.mark.slow  # starts a shell
def test_the_units_lines_do_what_they_say_in_a_shell(tmp_path: Path) -> None:
    """As systemd hands them on: `$$` is `$`, and one pair of quotes goes."""
    program = tmp_path / "nvidia-smi"
    program.write_text(
        f'#!/bin/sh\ncase $1 in --query*) printf "0, 700.00\\n1, 350.00\\n";; *) echo "$*" >>{tmp_path}/calls;; esac\n'
    )
    program.chmod(0o755)
    text = texts(TUNING)["/etc/systemd/system/gpuprov-tuning.service"].replace("$$", "$")
    lines = dict(line.split("=/bin/sh -ec ", 1) for line in text.splitlines() if "=/bin/sh -ec " in line)
    assert {kind: (row[0], row[-1]) for kind, row in lines.items()} == {"ExecStart": ("'", "'"), "ExecStop": ("'", "'")}
    processors = tmp_path / "cpufreq"
    for name in ("policy0", "policy1"):
        (processors / name).mkdir(parents=True)
        (processors / name / "scaling_governor").write_text("powersave\n")
    script = lines["ExecStart"].strip("'").replace("/sys/devices/system/cpu/cpufreq", str(processors))
    assert subprocess.run(["/bin/sh", "-ec", script], check=False).returncode == 0
    assert {path.read_text() for path in processors.glob("*/*")} == {"performance\n"}
    missing = script.replace(str(processors), str(tmp_path / "none"))
    done = subprocess.run(["/bin/sh", "-ec", missing], check=False, capture_output=True, text=True)
    assert (done.returncode, "no governor can be chosen here" in done.stderr) == (1, True)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert subprocess.run(["/bin/sh", "-ec", lines["ExecStop"].strip("'")], check=False, env=path).returncode == 0
    assert (tmp_path / "calls").read_text() == "--id=0 --power-limit=700.00\n--id=1 --power-limit=350.00\n"
