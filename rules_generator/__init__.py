"""Learn rules from known offers and their pages (wrapper induction, Kushmerick et al. 1997).

Public names are loaded on first use (`lazy_loader`), so that importing a sub-module stays cheap.
"""

from typing import TYPE_CHECKING

# Both branches hold the same names, which a test checks: type checkers do not know lazy_loader.
if TYPE_CHECKING:
    from rules_generator.config import LearnerConfig as LearnerConfig
    from rules_generator.evaluation.evaluate import evaluate_extraction as evaluate_extraction
    from rules_generator.labelled_pages import learn_rules as learn_rules
    from rules_generator.learn_job import LearnReport as LearnReport
    from rules_generator.learn_job import learn_shop as learn_shop
    from rules_generator.monitoring.drift import Drift as Drift
    from rules_generator.monitoring.drift import drift_shop as drift_shop
else:
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach(
        __name__,
        submod_attrs={
            "config": ["LearnerConfig"],
            "evaluation.evaluate": ["evaluate_extraction"],
            "labelled_pages": ["learn_rules"],
            "learn_job": ["LearnReport", "learn_shop"],
            "monitoring.drift": ["Drift", "drift_shop"],
        },
    )
