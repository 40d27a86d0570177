"""Split the screening over several jobs: which rows a shard runs, bundles of results, and joining them."""
