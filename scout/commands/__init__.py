"""The commands of `scout`, one module per group.

They import other packages when they run, so `--help` is fast.
"""

from types import ModuleType

from scout.commands import (
    catalog,
    db,
    deliver,
    demo,
    doctor,
    maintenance,
    run,
    schedule,
    serve,
    shop,
    stages,
    user,
    worker,
)
from scout.commands.extraction import drift, inspect, rules
from scout.commands.findings import offers, review
from scout.commands.standalone import dedupe, evaluate, url

COMMAND_MODULES: tuple[ModuleType, ...] = (
    demo,
    shop,
    catalog,
    run,
    stages,
    offers,
    review,
    inspect,
    rules,
    drift,
    url,
    dedupe,
    evaluate,
    schedule,
    deliver,
    serve,
    worker,
    user,
    db,
    doctor,
    maintenance,
)
"""All modules with commands, in the order of the manual; each has `add_to(app)`."""
