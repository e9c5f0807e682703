"""The join methods that run on Spark."""

from catalog.errors import UsageError
from catalog.runtime.spark.session import SparkJobs
from matcher.dedupe.base.join import JoinMethod
from matcher.dedupe.cluster.chain import Chain
from matcher.dedupe.edit.segments import Segments
from matcher.dedupe.exact.exact_join import Exact
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.spark.equal_records import SparkExact
from matcher.dedupe.spark.shared_bands import SparkMinHash
from matcher.dedupe.spark.text_lengths import SparkSegments

SUPPORTED = (Exact, Segments, MinHash)


def distribute(method: JoinMethod, jobs: SparkJobs) -> JoinMethod:
    """Return a join method that finds the same pairs on Spark. Raises UsageError."""
    check_supported(method)
    match method:
        case Chain():
            return Chain([(name, distribute(step, jobs)) for name, step in method.methods])
        case Segments():
            return SparkSegments(method.threshold, jobs=jobs)
        case MinHash():
            return SparkMinHash(**vars(method), jobs=jobs)
        case _:
            return SparkExact(jobs=jobs)


def check_supported(method: JoinMethod) -> None:
    """Raise UsageError if a join method does not run on Spark."""
    steps = [step for _, step in method.methods] if isinstance(method, Chain) else [method]
    for step in steps:
        if not isinstance(step, SUPPORTED):
            raise UsageError(
                "--engine spark: has --method exact, segments, minhash, and ladder with "
                "--similarity edit or jaccard; leave it out for the other methods"
            )
