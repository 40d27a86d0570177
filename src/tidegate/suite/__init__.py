"""Read tidegate.yaml and scenario files of both dialects into a Suite, or list every problem found."""
