"""A code_judge: which of the words of the reference are in the answer, and whether the answer names its page."""

import json
import sys

told = json.load(sys.stdin)
wanted = [*told["reference_answer"].split(), ".md"]
hits = [word for word in wanted if word in told["candidate_answer"]]
misses = [word for word in wanted if word not in hits]
print(json.dumps({"score": len(hits) / len(wanted), "hits": hits, "misses": misses}))
