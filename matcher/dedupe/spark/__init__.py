"""Join methods on Spark: the same functions, distributed, with the same pairs as in memory."""
