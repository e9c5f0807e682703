"""Commands on the extraction rules of a shop: inspect, rules, drift."""
