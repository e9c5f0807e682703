"""Label features: the known labels of the other pairs of a pair's two offers.

Where some links of a catalog are known, their labels inform about more than those pairs. If offers
are paired one to one, an offer with a known partner hardly has another one; if one product has many
offers, it may. The classifier learns which holds. A labelled pair does not see its own label, so it
looks like an unlabelled one.
"""

import numpy as np

from matcher.array_types import Bools, Floats, Ints, Pairs
from matcher.features.rival_margins import compute_rival_margins

# Known partners that are counted; cap, as more of them mean the same.
MAX_PARTNERS = 3
# Score of a pair that is labelled as a match; 1 minus it if labelled as none.
LABELLED_SCORE = np.float32(0.999)


def compute_label_features(pairs: Pairs, score: Floats, labelled: Ints, labels: Bools) -> Floats:
    """Compute three columns per side: known other partners, best rival, margin over it.

    `labelled` are the numbers of the labelled rows. A labelled rival counts by its label, any other
    rival by its `score`.

    >>> pairs = np.array([[0, 0], [0, 1], [1, 1]])
    >>> score = np.full(3, 0.5, np.float32)
    >>> compute_label_features(pairs, score, np.array([0]), np.array([True]))[:, 0].tolist()
    [0.0, 1.0, 0.0]
    """
    label_score = score.astype(np.float32)
    label_score[labelled] = np.where(labels, LABELLED_SCORE, 1 - LABELLED_SCORE)
    is_partner = np.zeros(len(pairs), np.float32)
    is_partner[labelled] = labels
    columns = []
    for owner in pairs.T:
        other_partners = np.bincount(owner, is_partner)[owner] - is_partner
        # The pair's own label cancels out: only the rival's score remains.
        best_rival = label_score - compute_rival_margins(owner, label_score).lead
        columns += [np.minimum(other_partners, MAX_PARTNERS), best_rival, score - best_rival]
    return np.column_stack(columns).astype(np.float32)
