from gpuprov.catalog.efa import Interface, expand, interfaces, layout_of


def test_a_text_stands_for_one_interface_on_each_card() -> None:
    assert expand("efa-only 2-4/1") == tuple(Interface(kind="efa-only", card=card, device=1) for card in (2, 3, 4))
    assert expand("ena 0/0") == (Interface(kind="ena", card=0, device=0),)
    assert expand("eth 0/0") is None


def test_the_primary_interface_is_first() -> None:
    found = interfaces("p5.48xlarge", "ip")
    assert found[0] == Interface(kind="ena", card=0, device=0)
    assert [each.card for each in found[1:]] == list(range(32))
    assert interfaces("g6.8xlarge", "ip") == (Interface(kind="efa", card=0, device=0),)


def test_what_nobody_verified_is_not_known() -> None:
    assert layout_of("p4d.24xlarge", "ip") is None
    assert interfaces("p4d.24xlarge", "ip") == ()
    assert interfaces("g6.xlarge", "ip") == ()
