import pytest

from gpuprov.lab.aws.addresses import PublicAddresses


def test_addresses_go_round_so_that_a_freed_one_does_not_come_back_at_once() -> None:
    used: set[str] = set()
    pool = PublicAddresses("198.18.7.0/24", lambda: used)
    first = pool.take()
    assert first == "198.18.7.32"
    assert pool.take() == "198.18.7.33"
    used.add("198.18.7.34")
    assert pool.take() == "198.18.7.35"


def test_every_address_is_handed_out_and_none_twice() -> None:
    used: set[str] = set()
    pool = PublicAddresses("198.18.7.0/24", lambda: used)
    while len(used) < 223:
        used.add(pool.take())
    with pytest.raises(Exception, match="InsufficientAddressCapacity"):
        pool.take()
    used.remove("198.18.7.100")
    assert pool.take() == "198.18.7.100"
