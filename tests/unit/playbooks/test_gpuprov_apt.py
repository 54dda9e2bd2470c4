"""apt 2.6.1's own outputs, recorded on lab nodes and on a Debian 12 machine (2026-11-30)."""

import re
from pathlib import Path

import pytest
from ansible.module_utils import gpuprov_apt as apt
from apt_simulation import read_simulation

GONE = "The following packages will be REMOVED:\n  a b*\n"
APT = Path(__file__).parents[2] / "cases" / "playbooks" / "apt"


def text(name: str) -> str:
    return (APT / f"{name}.txt").read_text(encoding="utf-8")


STATUS = apt.parse_status(text("status"), "amd64")
DRIVER = sorted(name for name, here in STATUS.items() if here.version == "580.82.07-1")


def judged(name: str, plan: apt.Plan, downgrades: set[str] | None = None) -> apt.Verdict:
    return apt.judge(plan, STATUS, read_simulation(text(name), "amd64"), downgrades or set())


def test_dpkg_s_status() -> None:
    assert STATUS["nvidia-open"] == apt.Installed(version="580.82.07-1", held=True, state="installed", broken=False)
    assert not STATUS["tini"].held
    odd = apt.parse_status(
        "a\ti386\t1\tinstall\tinstalled\tok\nb\tall\t2\tinstall\thalf-installed\treinstreq\nx\n", "amd64"
    )
    assert set(odd) == {"a:i386", "b"}
    assert apt.broken_packages({**odd, **STATUS}) == ("b",)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("", "no count apt names 0 file(s) and 0 removal(s)"),
        ("0 upgraded, 1 newly installed, 0 to remove and 0 not upgraded.\n", "apt names 0 file(s)"),
        (f"{GONE}0 upgraded, 0 newly installed, 1 to remove and 0 not upgraded.\n", "2 removal(s)"),
    ],
)
def test_an_answer_that_is_not_understood_whole_is_no_answer(said: str, found: str) -> None:
    with pytest.raises(ValueError, match=re.escape(found)):
        apt.parse_announced(said, "amd64", {})


def test_packages_of_another_architecture_are_announced_by_it() -> None:
    said = (
        "The following packages will be REMOVED:\n  zlib1g:i386\n"
        "0 upgraded, 1 newly installed, 1 reinstalled, 1 to remove and 7 not upgraded.\n"
        "'http://x/a' a_1%3a2_i386.deb 10 SHA256:x\n'http://x/b' b_2_all.deb 10 SHA256:x\n"
    )
    here = {"b": apt.Installed(version="2", held=False, state="half-installed", broken=True)}
    assert apt.parse_announced(said, "amd64", here) == (
        apt.Step("zlib1g:i386", None, None),
        apt.Step("a:i386", None, "1:2"),
        apt.Step("b", "2", "2"),
    )


def test_an_upgrade_of_the_whole_set_is_the_plan() -> None:
    found = judged("upgrade", apt.Plan(install=dict.fromkeys(DRIVER, "580.95.05-1")))
    assert found.violations == ()
    assert found.others == ()
    assert [(s.before, s.after) for s in found.planned] == [("580.82.07-1", "580.95.05-1")] * len(DRIVER)


def test_a_downgrade_in_the_plan_is_the_plan() -> None:
    found = judged("downgrade", apt.Plan(install=dict.fromkeys(DRIVER, "580.65.06-1")), set(DRIVER))
    assert found.violations == ()
    assert len(found.planned) == len(DRIVER)


def test_an_owned_package_at_another_version_is_refused() -> None:
    plan = apt.Plan(install={**dict.fromkeys(DRIVER, "580.95.05-1"), "libcuda1": "580.82.07-1"})
    assert judged("upgrade", plan).violations == ("libcuda1 would be 580.95.05-1, the plan says 580.82.07-1",)


def test_an_owned_package_that_does_not_come_is_refused() -> None:
    plan = apt.Plan(install={**dict.fromkeys(DRIVER, "580.95.05-1"), "docker.io": "1"})
    assert judged("upgrade", plan).violations == ("docker.io would be absent, the plan says 1",)


def test_a_removal_outside_the_plan_is_refused_with_its_name() -> None:
    plan = apt.Plan(install={}, remove=("nvidia-open",))
    assert judged("remove", plan).violations == (
        "cuda-toolkit-13-0 13.0.3-1 would be removed, the plan does not say so",
    )
    assert judged("remove", apt.Plan(install={}, remove=("nvidia-open", "cuda-toolkit-13-0"))).violations == ()


def test_removals_beside_the_plan_are_named() -> None:
    assert judged("remove", apt.Plan(install={}, remove=("nvidia-open",))).removed == ("cuda-toolkit-13-0",)


@pytest.mark.parametrize("name", ["linux-image-6.1.0-26-amd64", "linux-image-unsigned-6.8.0-61-generic"])
def test_a_kernel_that_the_plan_does_not_hold_is_refused(name: str) -> None:
    line = f"Inst {name} (6.1.112-1 X [amd64])\nInst linux-image-amd64 [6.1.106-3] (6.1.112-1 X [amd64])\n"
    steps = read_simulation(line, "amd64")
    assert apt.judge(apt.Plan(install={}), {}, steps, set()).violations == (
        f"{name} 6.1.112-1 would come: another kernel to boot, the plan does not say so",
    )
    assert apt.judge(apt.Plan(install={name: "6.1.112-1"}), {}, steps, set()).violations == ()
    wanted = apt.Plan(install={"linux-image-amd64": "6.1.112-1"})
    assert apt.judge(wanted, {}, steps, set()).violations == ()


def test_what_a_transaction_needs_is_in_the_verdict() -> None:
    found = apt.with_need(apt.Verdict(), text("uris"))
    assert (found.download, found.growth) == apt.parse_need(text("uris"))
    assert found.download > 0


def test_a_change_of_branch_is_one_call_of_apt_and_takes_the_whole_old_branch_away() -> None:
    """A54: what is left of the old branch would conflict with the new one; one member that stays is refused before."""
    old, new = (
        ("nvidia-headless-570-server", "nvidia-utils-570-server"),
        ("nvidia-headless-580-server", "nvidia-utils-580-server"),
    )
    status = {name: apt.Installed(version="570.1-1", held=True, state="installed", broken=False) for name in old}
    plan = apt.Plan(install=dict.fromkeys(new, "580.95.05-1"), remove=old)
    words = apt.install_words(plan, apt.compare(plan, status))
    assert words == [*(f"{name}=580.95.05-1" for name in new), *(f"{name}-" for name in old)]
    steps = [apt.Step(name, "570.1-1", None) for name in old] + [apt.Step(name, None, "580.95.05-1") for name in new]
    assert apt.judge(plan, status, tuple(steps), set()).violations == ()
    found = apt.judge(plan, status, tuple(steps[1:]), set()).violations
    assert found == ("nvidia-headless-570-server would stay, the plan removes it",)


def test_a_removal_of_the_plan_that_apt_does_not_do_is_refused() -> None:
    assert judged("remove", apt.Plan(install={}, remove=("nvidia-open", "cuda-toolkit-13-0", "runc"))).violations == (
        "runc would stay, the plan removes it",
    )


def test_other_packages_may_rise_or_come_but_not_go_down_or_move_when_held() -> None:
    steps = read_simulation(text("rise"), "amd64")
    rises, comes = apt.Step("zip", "3.0-13", "3.0-13+deb12u1"), apt.Step("tree", None, "2.1.0-1")
    assert set(steps) == {rises, comes}
    none = apt.Plan(install={})
    assert set(apt.judge(none, {}, steps, set()).others) == {rises, comes}
    down = apt.judge(none, {}, steps, {"zip"})
    assert down.violations == ("zip would go down from 3.0-13 to 3.0-13+deb12u1",)
    held = {"zip": apt.Installed(version="3.0-13", held=True, state="installed", broken=False)}
    assert apt.judge(none, held, steps, set()).violations == ("zip is held at 3.0-13 and would become 3.0-13+deb12u1",)


def test_a_package_of_another_architecture_is_another_package() -> None:
    line = "Inst zlib1g:i386 [1.2.13-1] (1.2.13-2 Debian:12.1/stable [i386]) [zlib1g:amd64 ]\nRemv x:amd64 [1]\n"
    assert read_simulation(line, "amd64") == (
        apt.Step("zlib1g:i386", "1.2.13-1", "1.2.13-2"),
        apt.Step("x", "1", None),
    )


def test_a_package_that_goes_and_comes_is_one_step() -> None:
    lines = "Remv a [1]\nInst b [1] (2 X [amd64])\nInst a (3 X [amd64])\n"
    assert read_simulation(lines, "amd64")[0] == apt.Step("a", "1", "3")


@pytest.mark.parametrize(
    ("name", "expected"), [("notfound", True), ("unmet", True), ("heldback", True), ("upgrade", False), ("rise", False)]
)
def test_only_texts_of_old_lists_ask_for_fresh_ones(name: str, expected: bool) -> None:  # noqa: FBT001
    assert bool(apt.LISTS_TOO_OLD.search(text(name))) is expected


def test_why_apt_finds_no_way() -> None:
    assert apt.first_conflict(text("unmet")) == (
        ": nvidia-driver : Depends: nvidia-driver-libs (= 580.82.07-1) but 580.65.06-1 is to be installed"
    )
    assert apt.reasons(text("unmet")).startswith("nvidia-driver : Depends")
    assert apt.reasons(text("unmet")).endswith("held broken packages.")
    assert apt.first_conflict(text("notfound")) == ""
    assert apt.reasons(text("notfound")).endswith("E: Version '9:9' for 'runc' was not found")


def test_a_repair_may_remove_only_what_the_plan_knows() -> None:
    steps = read_simulation(text("remove"), "amd64")
    assert apt.refused_repairs(steps, apt.Plan(install={})) == ["cuda-toolkit-13-0", "nvidia-open"]
    plan = apt.Plan(install={"nvidia-open": "1"}, remove=("cuda-toolkit-13-0",))
    assert apt.refused_repairs(steps, plan) == []


def test_what_cannot_be_simulated_is_told_as_planned() -> None:
    todo = apt.Todo(install={"libcuda1": "9", "new": "1"}, remove=("tini",), hold=(), release=())
    assert apt.unsimulated(todo, STATUS) == (
        apt.Step("libcuda1", "580.82.07-1", "9"),
        apt.Step("new", None, "1"),
        apt.Step("tini", STATUS["tini"].version, None),
    )


def test_moves_are_read_from_two_looks() -> None:
    def row(version: str, state: str = "installed") -> apt.Installed:
        return apt.Installed(version=version, held=False, state=state, broken=False)

    before = {
        "same": row("1"),
        "rose": row("1"),
        "half": row("2", "unpacked"),
        "gone": row("1"),
        "rc": row("1", "config-files"),
    }
    after = {"same": row("1"), "rose": row("2"), "half": row("2"), "gone": row("1", "config-files"), "came": row("1")}
    found = {step.name: (step.before, step.after) for step in apt.moves(before, after)}
    assert found == {"rose": ("1", "2"), "half": (None, "2"), "gone": ("1", None), "came": (None, "1")}


def test_sizes() -> None:
    assert apt.parse_need(text("uris")) == (65_600_000, 264_000_000)
    assert apt.parse_need("Need to get 1,234 kB/5,678 MB of archives.\n") == (5_678_000_000, 0)
    assert apt.parse_need("After this operation, 12.3 MB disk space will be freed.\n") == (0, 0)


HELLO = "2e6e2f1a0007dc43bc91c273fd36e91e40a4f1c2765a03eca68b70a42103878a"
TREE = "4c0dc6088e801285717bae2a98a7672f1e4d2eed4e918355987bc6617a8f490b"


def test_files_to_fetch_are_read_with_their_digests() -> None:
    found = {uri.name: (uri.size, uri.sha256) for uri in apt.parse_uris(text("files"))}
    assert found == {
        "hello_2.10-3_amd64.deb": (53080, HELLO),
        "tree_1%3a2.1.0-1_all.deb": (52464, TREE),
        "weak_3_amd64.deb": (10, ""),
        "none_3_amd64.deb": (10, ""),
    }


@pytest.mark.parametrize(
    ("name", "file", "words"),
    [
        ("hello", apt.File("2.10-3", "amd64", HELLO), ""),
        ("tree", apt.File("1:2.1.0-1", "all", TREE), ""),
        ("tree", apt.File("1:2.1.0-1", "", TREE), ""),
        ("hello", apt.File("2.10-3", "amd64", TREE), f"is sha256 {HELLO} on this host, the lock says {TREE}"),
        ("tree", apt.File("1:2.1.0-1", "amd64", TREE), "is tree_1%3a2.1.0-1_all.deb on this host"),
        ("weak", apt.File("3", "amd64", TREE), "is sha256 unknown on this host"),
        ("none", apt.File("3", "amd64", TREE), "is sha256 unknown on this host"),
        # apt would install it and does not say from which file.
        ("gone", apt.File("3", "amd64", TREE), "is sha256 unknown on this host"),
    ],
)
def test_a_file_that_the_lock_does_not_name_is_found(name: str, file: apt.File, words: str) -> None:
    found = apt.wrong_files({name: file}, (apt.Step(name, None, file.version),), apt.parse_uris(text("files")))
    assert len(found) == bool(words)
    assert words in "".join(found)
    # What apt does not install, or the lock gives no digest for, is no matter.
    assert apt.wrong_files({name: file}, (apt.Step(name, "1", None),), ()) == []
    assert apt.wrong_files({}, (apt.Step(name, None, file.version),), ()) == []


def test_what_stays_is_named_in_one_line() -> None:
    assert apt.stay_note(["b", "a"]) == "installed as before, no longer held: a, b"
    assert apt.stay_note([str(n) for n in range(9)]).endswith("4 and 4 more")


def test_what_is_to_do() -> None:
    plan = apt.Plan(
        install={"runc": STATUS["runc"].version, "libcuda1": "9", "new": "1"},
        remove=("tini", "gone"),
        hold=("runc", "new", "tini"),
        release=("libcuda1", "tini"),
    )
    found = apt.compare(plan, STATUS)
    assert found.install == {"libcuda1": "9", "new": "1"}
    assert found.remove == ("tini",)
    assert set(found.hold) == {"new", "tini"}
    assert found.release == ("libcuda1",)
    assert apt.install_words(plan, found) == ["libcuda1=9", "new=1", f"runc={STATUS['runc'].version}", "tini-"]


def test_a_satisfied_plan_asks_for_nothing() -> None:
    plan = apt.Plan(install={name: STATUS[name].version for name in DRIVER}, remove=("gone",), hold=tuple(DRIVER))
    assert not apt.compare(plan, STATUS).anything


@pytest.mark.parametrize(
    "here",
    [
        apt.Installed(version="1", held=True, state="half-configured", broken=False),
        apt.Installed(version="1", held=True, state="installed", broken=True),
        apt.Installed(version="2", held=True, state="installed", broken=False),
    ],
)
def test_a_package_that_is_not_whole_or_not_at_its_version_is_to_do(here: apt.Installed) -> None:
    assert apt.compare(apt.Plan(install={"a": "1"}), {"a": here}).install == {"a": "1"}


def test_the_end_of_a_log_keeps_what_dkms_said_before_it() -> None:
    said = ["Error! Bad return status for module build on kernel: 6.1.0-21-amd64 (x86_64)"]
    said += ["Consult /var/lib/dkms/nvidia/580.95.05/build/make.log for more information."]
    later = [f" nvidia-open depends on part {number}; however:" for number in range(30)]
    assert apt.last_lines("\n".join(["Setting up a", "", *said, *later])).splitlines() == [*said, *later[-20:]]
