"""A parsed page: texts, labels, element index, product scope."""
