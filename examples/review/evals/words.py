"""The share of the words of the reference answer that the answer has."""

import json
import sys

told = json.load(sys.stdin)
wanted = told["reference_answer"].split()
misses = [word for word in wanted if word not in told["candidate_answer"]]
print(json.dumps({"score": 1 - len(misses) / len(wanted), "misses": misses}))
