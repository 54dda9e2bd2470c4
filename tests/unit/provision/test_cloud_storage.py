from gpuprov.cloud.types import Made
from gpuprov.provision.cloud_storage import storage_of


def test_a_host_finds_its_own_volumes_by_their_serial_number_and_every_share() -> None:
    """A40: by the volume's id, whose dash the serial number lacks."""
    made = Made(
        volumes={"scratch/a": "vol-0123456789abcdef0", "scratch/b": "vol-1", "logs/a": "vol-2"},
        shares={"data": "fs-1.efs.us-east-1.amazonaws.com", "not-there-yet": ""},
    )
    by_id = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_"
    assert storage_of(made, ["a"])["a"] == {
        "scratch": f"{by_id}vol0123456789abcdef0",
        "logs": f"{by_id}vol2",
        "data": "fs-1.efs.us-east-1.amazonaws.com:/",
    }
    share = {"data": "fs-1.efs.us-east-1.amazonaws.com:/"}
    assert storage_of(made, ["b", "c"]) == {"b": {"scratch": f"{by_id}vol1"} | share, "c": share}
