"""Imports and data that each of many runs would load for itself: a quarter of a small run's cost.

The process server imports this module once, before it forks the processes of runs.
"""

import sklearn.ensemble as trees

from catalog.runtime.code_version import code_version
from crawler.urls.site import LINKING_PACKAGES
from matcher import match
from matcher.match_job import MATCHING_PACKAGES
from parser.parse_job import READING_PACKAGES
from reports.write.html_report import compile_templates
from rules_generator.learn_job import LEARNING_PACKAGES
from url_cleaner.urls.domains import registrable_domain

__all__ = ("match", "trees")

# The files of the packages that a stage's results depend on are read and hashed.
for packages in (LINKING_PACKAGES, READING_PACKAGES, LEARNING_PACKAGES, MATCHING_PACKAGES):
    code_version(*packages)
compile_templates()
# The first look-up loads the Public Suffix List.
registrable_domain("shop.example")
