"""Imports and data that each of many runs would load for itself: a quarter of a small run's cost.

The process server imports this module once, before it forks the processes of runs.
"""

import sklearn.ensemble as trees

from catalog.runtime.code_version import code_version
from matcher import match
from reports.write.html_report import compile_templates
from url_cleaner.urls.domains import registrable_domain

__all__ = ("match", "trees")

# The packages that a stage's results depend on: their files are read and hashed once.
code_version("catalog", "crawler", "matcher", "parser", "rules_generator", "url_cleaner")
compile_templates()
# The first look-up loads the Public Suffix List.
registrable_domain("shop.example")
