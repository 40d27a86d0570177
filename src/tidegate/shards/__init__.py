"""Split the screening over several jobs: which rows a shard runs, its bundle of results, and joining the bundles."""
