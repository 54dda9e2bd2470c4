"""Laws of the rules: they answer any facts, every refusal is complete, and what fits stays fitting with less asked."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprov.catalog.load import rows
from gpuprov.catalog.rows import BranchRow, GpuRow, SystemRow, ToolkitRow
from gpuprov.catalog.rows_stack import FrameworkRow, VariantRow
from gpuprov.model.version import driver_branch
from gpuprov.rules.answer import Answer, Verdict, told
from gpuprov.rules.check import check_pool
from gpuprov.rules.facts import FrameworkFacts, PoolFacts

TODAY = "2026-11-30"
RELEASES = sorted({release for row in rows(BranchRow) for release in row.releases} | {"630.10.01", "400.1"})
PROFILES = sorted({text.partition(":")[0] for row in rows(GpuRow) for text in row.mig_profiles} | {"9g.1gb"})
PACKAGES = ["cuda-compat-12-4", "cuda-compat-19-9", "nvidia-imex", "datacenter-gpu-manager-4-cuda12", "htop"]


@st.composite
def pools(draw: st.DrawFn) -> PoolFacts:
    driver = draw(st.sampled_from(["", *RELEASES]))
    branches = (driver_branch(driver),) if driver else tuple(draw(st.lists(st.sampled_from([470, 580, 620, 630]))))
    names = draw(st.lists(st.sampled_from(PACKAGES), unique=True))
    framework = st.builds(
        FrameworkFacts,
        name=st.sampled_from(sorted({row.project for row in rows(FrameworkRow)} | {"numpy"})),
        version=st.sampled_from(sorted({row.version for row in rows(FrameworkRow)} | {"", "2", "9.9"})),
        variant=st.sampled_from(["", "cu999", *(row.id for row in rows(VariantRow))]),
    )
    return PoolFacts(
        pool="p",
        gpu_models=tuple(draw(st.lists(st.sampled_from([row.id for row in rows(GpuRow)] + ["X9"]), max_size=3))),
        driver=driver,
        branches=branches,
        modules=draw(st.sampled_from(["", "open", "proprietary"])),
        from_os=draw(st.booleans()),
        source_url=draw(
            st.sampled_from(["", "https://mirror.example/repos/debian12/x86_64/", "https://x/repos/y/sbsa"])
        ),
        cuda=draw(st.sampled_from(["", "99.9", *sorted({row.release for row in rows(ToolkitRow)})])),
        fabric=draw(st.sampled_from(["auto", "none"])),
        dcgm=draw(st.sampled_from(["", "3.3.5", "4.7.0", "4"])),
        engine=draw(st.sampled_from(["", "docker", "podman"])),
        toolkit=draw(st.sampled_from(["", "1.18", "1.20.0"])),
        frameworks=tuple(draw(st.lists(framework, max_size=2))),
        mig=tuple(draw(st.lists(st.sampled_from(PROFILES), max_size=4))),
        packages=tuple(names),
        locked=dict.fromkeys(
            draw(st.lists(st.sampled_from([*PACKAGES, "docker.io", "nvidia-fabricmanager"]))), "1:2.3-1"
        ),
        os=draw(st.sampled_from(["", "plan-9", *(row.id for row in rows(SystemRow))])),
        arch=draw(st.sampled_from(["", "amd64", "arm64"])),
        kernel=draw(st.sampled_from(["", "4.4", "6.8.0-60-generic"])),
    )


def refused(answers: tuple[Answer, ...]) -> set[str]:
    return {answer.rule for answer in answers if answer.verdict is Verdict.REFUSED}


@settings(deadline=None)
@given(pools())
def test_every_answer_is_complete(facts: PoolFacts) -> None:
    for answer in check_pool(facts, TODAY):
        diagnostic = told(answer)
        assert diagnostic.summary
        assert "\n" not in diagnostic.summary
        if answer.verdict in {Verdict.REFUSED, Verdict.UNKNOWN}:
            assert diagnostic.hint
        if answer.verdict in {Verdict.REFUSED, Verdict.WARNING}:
            assert answer.facts
        assert (diagnostic.code == "GP-RULE-900") == (answer.verdict in {Verdict.UNKNOWN, Verdict.NOTE})


@settings(deadline=None)
@given(pools())
def test_asking_for_less_refuses_no_more(facts: PoolFacts) -> None:
    less = replace(facts, cuda="", dcgm="", toolkit="", frameworks=(), mig=(), packages=(), locked={})
    assert refused(check_pool(less, TODAY)) <= refused(check_pool(facts, TODAY))


@settings(deadline=None)
@given(pools(), st.integers(0, 2))
def test_the_order_of_gpus_decides_nothing(facts: PoolFacts, turn: int) -> None:
    models = facts.gpu_models[turn:] + facts.gpu_models[:turn]
    assert refused(check_pool(replace(facts, gpu_models=models), TODAY)) == refused(check_pool(facts, TODAY))
