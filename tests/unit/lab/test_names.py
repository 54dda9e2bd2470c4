import pytest

from gpuprov.lab.names import LabNames


@pytest.mark.parametrize("lab_id", ["", "toolong", "Upper", "a-b", "../x", "a b"])
def test_an_id_that_could_mean_something_else_is_refused(lab_id: str) -> None:
    with pytest.raises(ValueError, match="lab id"):
        LabNames(lab_id)


def test_every_name_carries_the_id_and_links_fit_the_kernels_limit() -> None:
    names = LabNames("abc123")
    carried = [
        names.router_namespace,
        names.host_link,
        names.node_namespace("n"),
        names.node_link(63),
        names.machine("n"),
        names.vpc_namespace("vpc-0123456789abcdef0"),
        names.vpc_link(999),
        names.instance_link(999),
    ]
    assert all(name.startswith(names.prefix) for name in carried)
    links = (names.host_link, names.node_link(63), names.vpc_link(999), names.instance_link(999))
    assert all(len(link) <= 15 for link in links)
    assert len(set(links)) == len(links)
    assert names.node_cgroup("n").startswith(f"{names.cgroup}/")
    assert names.record.is_relative_to(names.folder)
    assert names.node_folder("n").is_relative_to(names.folder)
    for folder in (names.images_folder, names.volumes_folder, names.vpc_folder("vpc-1")):
        assert folder.is_relative_to(names.cloud_folder)
    assert names.cloud_folder.is_relative_to(names.folder)


def test_no_lab_owns_what_begins_with_a_longer_id() -> None:
    assert not LabNames("abcd").router_namespace.startswith(LabNames("abc").prefix)
    assert LabNames("abcd").cgroup != LabNames("abc").cgroup
