"""Reports as pages: one self-contained HTML file a run, and an index of a folder of them."""
