from gpuprov.cloud.decide.standing import Standing, StandingBucket, StandingHost, StandingVolume, standing_of

VOLUME = {"availabilityZone": "us-east-1b", "size": 500.0, "iops": 3000.0, "throughput": 125.0, "tags": {"Name": "x"}}


def test_a_state_is_read_as_the_engine_writes_it() -> None:
    resources: dict[str, dict[str, object]] = {
        "vpc.main": {"cidrBlock": "10.0.0.0/16"},
        "instance.a.b": {
            "availabilityZone": "us-east-1b",
            "instanceType": "p5.48xlarge",
            "rootBlockDevice": {"volumeSize": 200.0},
        },
        "instance.cut-off": {"instanceType": "p5.48xlarge"},
        "role.main": {"name": "x"},
        "volume.scratch/a.b": VOLUME,
        "volume_attachment.scratch/a.b": {"deviceName": "/dev/sdg"},
        "volume.scratch/gone": VOLUME,
        "bucket.datasets": {"bucket": "train-datasets", "tags": {"Name": "y"}},
        "bucket_policy.datasets": {"bucket": "train-datasets"},
    }
    there = standing_of(resources)
    assert there.hosts == {
        "a.b": StandingHost(zone="us-east-1b", type="p5.48xlarge", root_gib=200),
        "cut-off": StandingHost(zone="", type="p5.48xlarge", root_gib=0),
    }
    assert there.role
    volume = StandingVolume(
        zone="us-east-1b", size_gib=500, iops=3000, throughput=125, device="/dev/sdg", tags={"Name": "x"}
    )
    assert there.volumes["scratch/a.b"] == volume
    assert there.volumes["scratch/gone"].device is None
    assert there.buckets == {"datasets": StandingBucket(bucket="train-datasets", tags={"Name": "y"})}


def test_an_empty_state_binds_nothing() -> None:
    assert standing_of({}) == Standing()
