"""Learn to tell duplicates from look-alikes in any table: features, classifier, variants, groups."""
