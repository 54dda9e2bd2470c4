"""The rules over hosts: every refusal says what was seen, and what to do."""

from gpuprov.rules.answer import Verdict, told
from gpuprov.rules.host import HostFacts, check_host


def test_each_conflict_is_told_with_its_files() -> None:
    found = list(check_host(HostFacts(host="node-1", conflicts={"https://a /": ("x", "y"), "https://b /": ("z", "w")})))
    assert [answer.verdict for answer in found] == [Verdict.REFUSED, Verdict.REFUSED]
    assert told(found[1]).source == "https://b /: z | https://b /: w"
    assert told(found[1]).address == "node-1"


def test_a_host_of_which_nothing_was_seen_is_not_refused() -> None:
    assert list(check_host(HostFacts(host="node-1"))) == []
