import pytest

from gpuprov.model.change import Rollback
from gpuprov.render.rollback_text import rollback_body, rollback_line


@pytest.mark.parametrize(
    ("rollback", "says", "style"),
    [
        (
            Rollback(kept=("a 1", "b 2"), size=12_340_000),
            "possible: the 2 old package(s) are on the host; 12.3 MB",
            "quiet",
        ),
        (Rollback(kept=("a 1",), fetched=("b 2",)), "possible: 1 of 2 old package(s) are fetched first (b 2)", "quiet"),
        (Rollback(unseen=("a 1",)), "1 of 1 old package(s) are not kept on the host (a 1)", "warning"),
        (
            Rollback(kept=("x 1",), lost=("a 1", "b 1", "c 1", "d 1")),
            "not possible: no source has a 1, b 1, c 1 and 1 more",
            "error",
        ),
    ],
)
def test_the_line_says_whether_there_is_a_way_back(rollback: Rollback, says: str, style: str) -> None:
    line = rollback_line(rollback)
    assert says in line.plain
    assert line.style == style


def test_the_body_holds_every_name() -> None:
    body = rollback_body(Rollback(kept=("a 1",), fetched=("b 1",), lost=("c 1",), unseen=("d 1",), size=3))
    assert body == {"kept": ["a 1"], "fetched": ["b 1"], "lost": ["c 1"], "unseen": ["d 1"], "bytes": 3}
    assert rollback_body(None) is None
