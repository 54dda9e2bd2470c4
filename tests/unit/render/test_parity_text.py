"""The table of `parity`, for people: what must be said, and said once."""

import pytest
from host_builders import make_snapshot

from gpuprov.catalog.find import component_of
from gpuprov.compare.compare import compare_snapshots
from gpuprov.model.waiver import Waiver
from gpuprov.parity.driver import driver_facts
from gpuprov.parity.types import Compared, FailOn, Parity, Terms
from gpuprov.parity.verdict import judge
from gpuprov.render.parity_text import show_parity
from gpuprov.render.terminal import open_terminal

DRIVER = {f"stack.driver.{leaf}": "580.95.05" for leaf in ("on_disk", "loaded", "nvml")}
REFUSES = {"unknown": "NVML refuses"}


def verdict(*seconds: dict[str, object], **terms: object) -> Parity:
    first = make_snapshot({**DRIVER, "gpu.models": ["H100"], "gpu.memory": 81559, "gpu.count": 8}, "a")
    compared = []
    for number, facts in enumerate(seconds):
        second = make_snapshot(
            {**DRIVER, "gpu.models": ["H100"], "gpu.memory": 81559, "gpu.count": 8, **facts}, f"b{number}"
        )
        found = compare_snapshots(first, second, component_of=component_of)
        compared.append(
            Compared(host=second.host, findings=found.findings, facets=found.facets, driver=driver_facts(second))
        )
    return judge(compared, Terms(**{"today": "2026-11-30", **terms}))  # type: ignore[arg-type]


def shown(parity: Parity, capsys: pytest.CaptureFixture[str]) -> str:
    show_parity(parity, open_terminal(colour=False))
    return capsys.readouterr().out


def test_equal_hosts_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(verdict({}, {}), capsys).splitlines()[-1] == "in sync: 2 host(s), 12 facts compared, 0 finding(s)"


def test_what_one_reason_hides_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    hidden = {"stack.driver.nvml": REFUSES, "gpu.models": REFUSES, "gpu.memory": REFUSES, "gpu.count": 7}
    text = shown(verdict(hidden, hidden), capsys)
    assert text.count("unknown  ") == 1
    assert "2 of 2 host(s): b0, b1" in text
    assert "the same hides stack.driver.nvml" in text
    assert text.index("different      gpu.count") >= 0


def test_each_row_names_the_id_that_explains_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert "explain F-" in shown(verdict({"gpu.count": 7}), capsys)


def test_waivers_in_trouble_and_waived_findings_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    waivers = (
        Waiver(facet="gpu.count", reason="one is at the vendor's", until="2027-01-01"),
        Waiver(facet="host.os", reason="moved", until="2026-11-29"),
    )
    text = shown(verdict({"gpu.count": 7}, {"gpu.count": 7}, waivers=waivers), capsys)
    assert "waived until 2027-01-01: gpu.count on b0, b1 (one is at the vendor's)" in text
    assert "expired" in text
    assert "the waiver for host.os expired on 2026-11-29: it covers nothing any more (moved)" in text
    failing = verdict({}, waivers=waivers[1:], fail_on=frozenset({FailOn.WAIVER}))
    assert int(failing.status) == 7


def test_a_driver_that_disagrees_with_itself_is_told_by_its_four_facts(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(verdict({"stack.driver.loaded": "570.124.06", "stack.driver.nvml": "570.124.06"}), capsys)
    assert "reboot pending stack.driver.loaded" in text
    assert "driver, reboot pending: packages absent, on disk 580.95.05, loaded 570.124.06, NVML 570.124.06 (b0)" in text
