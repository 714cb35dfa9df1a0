"""Many files, many runs: reading, reconstructing and diagnosing as plain functions over batches."""
