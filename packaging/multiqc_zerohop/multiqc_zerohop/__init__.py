"""A plugin of MultiQC for what `zerohop align --json` writes."""

__version__ = "0.1.0"
