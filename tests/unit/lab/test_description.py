import pytest

from gpuprov.lab.seed import draw


def test_a_node_is_found_by_its_name() -> None:
    lab = draw(1, nodes=3)
    assert lab.node(lab.nodes[2].name) == lab.nodes[2]
    with pytest.raises(KeyError, match="nobody"):
        lab.node("nobody")


def test_the_repository_is_on_the_router() -> None:
    lab = draw(1)
    assert lab.repository_url == f"http://{lab.router}:8080/"
    assert str(lab.network) == lab.subnet
