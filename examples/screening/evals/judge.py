"""The share of the expected fields that the decision has."""

import json
import sys

told = json.load(sys.stdin)
expected, decision = json.loads(told["reference_answer"]), json.loads(told["candidate_answer"])
misses = [f"{key} is {decision.get(key)}" for key, value in expected.items() if decision.get(key) != value]
print(json.dumps({"score": 1 - len(misses) / len(expected), "misses": misses}))
