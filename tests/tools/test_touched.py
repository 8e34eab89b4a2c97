"""A change picks the tests that it can break, by imports, fixtures, texts and files beside, and leaves out those with clouds."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import touched  # noqa: E402
from source_facts import Store  # noqa: E402

FILES = {
    "pyproject.toml": '[project.scripts]\ntool = "app.cli:main"\n[tool.mypy]\nmypy_path = "app/pools/on_machine"\n',
    "app/__init__.py": "",
    "app/cli.py": "from app.commands import main\n",
    "app/commands/__init__.py": 'import importlib\ndef main(name):\n    importlib.import_module(f".{name}", __package__)\n',
    "app/commands/plan.py": "from app import sizes\n",
    "app/commands/roll.py": "def roll():\n    from app.pools import bundle\n",
    "app/sizes.py": "",
    "app/pools/__init__.py": "",
    "app/pools/bundle.py": 'from pathlib import Path\nSCRIPTS = Path(__file__).parent / "on_machine"\n',
    "app/pools/on_machine/lease.py": "import clock\n",
    "app/pools/on_machine/clock.py": "",
    "app/pools/files/gpu/lib/has_gpu.py": "",
    "app/pools/files.py": 'FOLDER = "files"\n',
    "app/pools/stages.yaml": "",
    "app/pools/stages.py": 'TEXT = open("stages.yaml")\n',
    "docs/plan.md": "",
    "examples/small.yaml": "",
    "tests/__init__.py": "",
    "tests/support/__init__.py": "",
    "tests/support/cloud.py": (
        'from pathlib import Path\nROOT = Path()\nCOMMAND = Path().with_name("tool")\nclass Cloud:\n    command = COMMAND\n'
    ),
    "tests/conftest.py": (
        "import pytest\nfrom app import sizes\nfrom tests.support.cloud import Cloud\n"
        "@pytest.fixture\ndef cloud():\n    return Cloud()\n@pytest.fixture\ndef size():\n    return sizes\n"
    ),
    "tests/test_sizes.py": "def test_it(size):\n    pass\n\ndef test_nothing():\n    pass\n",
    "tests/test_up.py": "def test_up(cloud):\n    pass\n",
    "tests/test_marked.py": "import pytest\npytestmark = pytest.mark.cloud\ndef test_it():\n    pass\n",
    "tests/test_engine.py": 'BIN = ".landbridge/bin/pulumi"\ndef test_it():\n    BIN\n\ndef test_text():\n    pass\n',
    "tests/test_root.py": "from tests.support.cloud import ROOT\ndef test_it():\n    ROOT\n",
    "tests/test_bundle.py": (
        "from app.pools import bundle\nGOLDEN = 'golden'\n"
        "def test_files():\n    bundle.SCRIPTS, GOLDEN\n\ndef test_other():\n    pass\n"
    ),
    "tests/golden/bundle.yaml": "",
    "tests/test_stages.py": "from app.pools.stages import TEXT\ndef test_it():\n    TEXT\n",
    "tests/test_roll.py": "from app.commands.roll import roll\ndef test_it():\n    roll()\n",
    "tests/test_text.py": 'PROGRAM = """\nfrom app.pools import bundle\n"""\ndef test_it():\n    PROGRAM\n',
    "tests/test_files.py": "from app.pools.files import FOLDER\ndef test_it():\n    FOLDER\n",
    "tests/test_run.py": 'def test_it(run):\n    run(["python", "-m", "app.sizes"])\n',
    "tests/test_examples.py": 'def test_it():\n    open("examples/small.yaml")\n',
    "tests/test_docs.py": 'def test_it():\n    open("docs")\n',
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def graph(tree: Path, *more: str) -> touched.Graph:
    files = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    return touched.Graph(tree, {*files, *more}, Store(tree, tree / ".facts"))


BUNDLE = {"test_bundle.py::test_files", "test_text.py::test_it", "test_roll.py::test_it"}
UP = {"test_up.py::test_up"}


@pytest.mark.parametrize(
    ("change", "tests"),
    {
        "app/pools/bundle.py": BUNDLE | UP,
        # A script is read by what lies above it, one that it imports by its bare name as well.
        "app/pools/on_machine/clock.py": BUNDLE | UP,
        # One that nobody imports is data.
        "app/pools/files/gpu/lib/has_gpu.py": {"test_files.py::test_it"},
        "tests/golden/bundle.yaml": {"test_bundle.py::test_files"},
        "app/pools/stages.yaml": {"test_stages.py::test_it"},
        # A cloud runs the command line, and that has all commands.
        "app/commands/plan.py": UP,
        "app/sizes.py": {"test_sizes.py::test_it", "test_run.py::test_it"} | UP,
        "tests/test_sizes.py": {"test_sizes.py::test_it", "test_sizes.py::test_nothing"},
        "tests/support/cloud.py": {"test_root.py::test_it", *UP},
        "examples/small.yaml": {"test_examples.py::test_it"},
        "docs/plan.md": {"test_docs.py::test_it"},
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_change_picks_the_tests_that_reach_it(tree: Path, change: str, tests: set[str]) -> None:
    found = {test.removeprefix("tests/") for test in graph(tree).touched([change])}
    if change == "tests/support/cloud.py":
        # Conftests begin by their imports.
        assert tests <= found
    else:
        assert found == tests


def test_a_conftest_picks_all_below_it(tree: Path) -> None:
    made = graph(tree)
    assert made.touched(["tests/conftest.py"]).keys() == made.tests


def test_a_module_that_is_gone_picks_who_imports_it(tree: Path) -> None:
    (tree / "app/pools/bundle.py").unlink()
    assert "tests/test_bundle.py::test_files" in graph(tree, "app/pools/bundle.py").touched(["app/pools/bundle.py"])


def test_tests_with_clouds_are_known(tree: Path) -> None:
    assert graph(tree).with_clouds() == {
        "tests/test_up.py::test_up",
        "tests/test_marked.py::test_it",
        "tests/test_engine.py::test_it",
    }


def test_facts_are_kept_until_a_file_changes(tree: Path) -> None:
    first = Store(tree, tree / ".facts")
    told = first.of("tests/test_bundle.py")
    first.save()
    kept = Store(tree, tree / ".facts")
    assert kept.of("tests/test_bundle.py") == told
    assert not kept.changed
    (tree / "tests/test_bundle.py").write_text("def test_new():\n    pass\n")
    assert "test_new" in kept.of("tests/test_bundle.py").symbols
    (tree / "tests/test_bundle.py").write_text("def test_new(:\n")
    assert kept.of("tests/test_bundle.py").imports == []


def test_what_differs_is_asked_of_git(tree: Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=ops", "-c", "user.email=ops@example.com"]
        subprocess.run(["git", *who, *words], cwd=tree, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (tree / ".gitignore").write_text("*.log\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    assert touched.changed(tree, "HEAD") == set()
    git("switch", "-qc", "work")
    (tree / "app/sizes.py").write_text("SIZE = 1\n")
    git("commit", "-qam", "second")
    git("mv", "docs/plan.md", "docs/plans.md")
    (tree / "new.py").write_text("")
    (tree / "some.log").write_text("")
    assert touched.changed(tree, "HEAD") == {"docs/plan.md", "docs/plans.md", "new.py"}
    assert touched.changed(tree, "main") == {"docs/plan.md", "docs/plans.md", "new.py", "app/sizes.py"}
    with pytest.raises(touched.Changes, match="nowhere"):
        touched.changed(tree, "nowhere")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> touched.Graph:
    kept = tmp_path_factory.mktemp("facts") / "facts.json"
    return touched.Graph(ROOT, touched.listed(ROOT), Store(ROOT, kept))


def files(found: dict[str, int]) -> set[str]:
    return {test.partition("::")[0] for test in found}


def test_changes_here_pick_their_tests(ours: touched.Graph) -> None:
    # Transitively: by the rules, the model's pools, a pool's spec.
    assert {
        "tests/fleet/test_shapes.py",
        "tests/components/pools/test_pool_bundles.py",
        "tests/landbridge/pool/test_commands.py",
    } <= files(ours.touched(["fleet/pools.py"]))
    assert "tests/components/pools/azure/test_pools.py" in files(
        ours.touched(["tests/components/pools/azure/golden/spot.yaml"])
    )
    assert files(ours.touched(["tests/fleet/test_plan.py"])) == {"tests/fleet/test_plan.py"}
    assert "tests/fleet/test_loader.py" in files(ours.touched(["tests/fleet/bad/rules/api-to-the-world.yaml"]))


def test_clouds_here_are_known(ours: touched.Graph) -> None:
    clouds = ours.with_clouds()
    starting = {name.partition("::")[0] for name in touched.CLOUDS}
    assert [name for name in (*starting, *touched.LONG) if not (ROOT / name).exists()] == []
    assert all(name in ours.users for name in touched.CLOUDS)
    for file in (
        "tests/stacks/test_region.py",
        "tests/landbridge/etcd/test_etcd.py",
        "tests/local/workers/test_machine.py",
    ):
        assert {test for test in ours.tests if test.startswith(f"{file}::")} <= clouds
    pure = [test for test in ours.tests - clouds if test.startswith(("tests/fleet/", "tests/policies/"))]
    assert len(pure) > 100
