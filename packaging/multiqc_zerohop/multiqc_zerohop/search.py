"""How MultiQC finds the files."""

from multiqc import config


def add_search_pattern() -> None:
    """Tells MultiQC which files are ours; a pattern in the user's configuration stays."""
    config.sp.setdefault("zerohop", {"fn": "*.json", "contents": '"command": "zerohop align', "num_lines": 5})
    # What --umi-metrics writes, which MultiQC's module for fgbio shows: of the same sample as all other files.
    config.fn_clean_exts.append(".family_sizes")
