"""Configuration of the documentation site: `make docs` builds it from the pages of this folder, without the network."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import inventories  # noqa: E402
import links  # noqa: E402
import members  # noqa: E402

project = "stairnoise"
author = "The stairnoise developers"
copyright = author
release = version = installed("stairnoise")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "api_links",
    "commands",
    "explore",
    "links",
    "mathml",
    "members",
    "pictures",
    "search_words",
    "sessions",
    "unbroken",
]
exclude_patterns = ["_build", "_ext"]
templates_path = ["_templates"]
nitpicky = True
# Parameters that are named like a module of the package.
nitpick_ignore = [("py:obj", name) for name in ("data", "mechanism", "mechanisms", "rng", "types")]
default_role = "autolink"
highlight_language = "text"
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_context = {"members_of": members.members()}
autodoc_mock_imports = members.ADAPTED
autodoc_typehints = "none"  # the docstrings have the types, in words
numpydoc_show_class_members = False  # the template of a class lists them
# Types of parameters, and errors, lead to what they are; other words of theirs are text.
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = members.types()

# Compiled from the lists of names beside this file, so that the build asks nobody.
intersphinx_mapping = inventories.mapping(HERE / "inventories", HERE / "_build" / "inventories")

# The forge writes its anchors by a script.
linkcheck_anchors_ignore_for_url = [f"{links.REPOSITORY}/.*"]

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "stairnoise documentation"
html_static_path = ["_static"]
html_favicon = "_static/logo.svg"
html_context = {"default_mode": "auto"}
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "_ext" / "search_scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"**": ["pages.html"]}
html_theme_options = {
    "logo": {"text": "stairnoise", "image_light": "_static/logo.svg", "image_dark": "_static/logo_dark.svg"},
    "github_url": links.REPOSITORY,
    "navbar_center": [],  # the sections are on the left
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
