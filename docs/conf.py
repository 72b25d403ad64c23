"""Settings of the documentation: `make docs` copies this folder to _build/source and builds it there."""
# ruff: noqa: INP001, A001 (Sphinx asks for these names)

import gc
import shutil
import sys
import warnings
from functools import partial
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import click
from jinja2 import FileSystemBytecodeCache
from numpydoc import docscrape_sphinx

import secateur.cli
import secateur.report

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

gc.set_threshold(200_000, 50, 50)  # a tenth of the time of a build goes to looking for garbage otherwise

# numpydoc compiles its template again for every docstring, a sixth of the time of a build; this compiles it once.
docscrape_sphinx.SandboxedEnvironment = partial(
    docscrape_sphinx.SandboxedEnvironment, bytecode_cache=FileSystemBytecodeCache(str(HERE / "_templates"))
)

project = "secateur"
author = "the secateur developers"
release = version = installed_version("secateur")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "images/draw.py", "results", "reference/commands.md"]
templates_path = ["_templates"]
default_role = "py:obj"  # `name` in a docstring is a link where it can be one, and code where it cannot

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's Parameters say the role of each
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator,ClassifierMixin,RegressorMixin,tuple,dict,Exception",
    "exclude-members": "set_fit_request, set_score_request, set_predict_request, get_metadata_routing",
}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "min_reported_time": 1e9,
    "capture_repr": ("_repr_html_", "__str__"),
    "doc_module": (),
}
# Settings that hold functions cannot be kept between two builds; nothing here is rebuilt in part.
suppress_warnings = ["config.cache"]
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = "secateur"
html_static_path = ["_static"]
html_css_files = ["secateur.css"]
html_favicon = str(Path(secateur.report.__file__).parent / "page" / "icon.svg")
html_sidebars: dict[str, list[str]] = {"index": [], "tutorial/index": []}
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "logo": {"text": "secateur"},
}
copyright = "the secateur developers; BSD 3-Clause"


def write_commands(_: Any) -> None:
    """Write the help of every command as one page."""
    group = secateur.cli.cli
    parent = click.Context(group, info_name="secateur", terminal_width=74, max_content_width=74)
    parts = ["## secateur", _code(group.get_help(parent))]
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command is not None
        context = click.Context(command, parent=parent, info_name=name, terminal_width=74, max_content_width=74)
        parts += [f"## secateur {name}", _code(command.get_help(context))]
    (HERE / "reference" / "commands.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _code(text: str) -> str:
    return f"```text\n{text}\n```"


def copy_architecture(_: Any) -> None:
    """Bring the page at the root of the project into the site."""
    for root in (HERE.parent, HERE.parent.parent.parent):
        if (root / "ARCHITECTURE.md").exists():
            shutil.copy(root / "ARCHITECTURE.md", HERE / "explanation" / "architecture.md")


def write_live_report(_: Any) -> None:
    """Write the report that stands, live, on the front page."""
    from secateur import datasets, write_report
    from secateur.model_selection import Recipe, fit_model

    cars = datasets.car()
    model = fit_model(cars, Recipe(growing={"criterion": "gini"}, certify=True, select=16))
    write_report(model, HERE / "_static" / "report.html", title="Which cars are acceptable?", data=cars)


def setup(app: Any) -> None:
    """Fill in the lists, then connect what writes pages before they are read."""
    from lists import fill_folder

    fill_folder(HERE / "reference")  # now: autosummary looks through the files before any event
    app.connect("builder-inited", write_commands, priority=1)
    app.connect("builder-inited", copy_architecture, priority=1)
    app.connect("builder-inited", write_live_report, priority=1)
