"""The module of MultiQC: it finds the files, and puts what they hold into the report."""

import json
import logging
from pathlib import Path

from multiqc import report
from multiqc.base_module import BaseMultiqcModule, ModuleNoSamplesFound
from multiqc.plots import bargraph, linegraph, table

from multiqc_zerohop.run import CONTEXTS, Run

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
COUNT = {"format": "{:,.0f}", "scale": "Blues"}
PERCENT = {"min": 0, "max": 100, "suffix": "%", "format": "{:,.2f}"}
FIGURES = {
    "reads": {"title": "Reads", "description": "reads in, all accounted for", **COUNT},
    "mapped": {"title": "Mapped", "description": "reads mapped", "scale": "RdYlGn", **PERCENT},
    "proper": {"title": "Proper", "description": "paired reads properly paired", "scale": "RdYlGn", **PERCENT},
    "insert": {"title": "Insert", "description": "median insert size", "suffix": " b", "format": "{:,.0f}"},
    "duplicates": {"title": "Duplicates", "description": "duplicates of mapped reads", "scale": "OrRd", **PERCENT},
    "library_size": {"title": "Library size", "description": "different fragments, estimated", **COUNT},
    "n50": {"title": "N50", "description": "N50 of long reads", "suffix": " b", **COUNT},
    "identity": {"title": "Identity", "description": "columns that do not differ, of long reads", **PERCENT},
    "coverage": {"title": "Coverage", "description": "of the reference, by long reads", "suffix": "x",
                 "format": "{:,.1f}"},
    "reads_per_second": {"title": "Reads/s", "description": "reads mapped per second", "hidden": True, **COUNT},
}


class MultiqcModule(BaseMultiqcModule):
    """Runs of `zerohop align`, from the files that --json wrote."""

    def __init__(self):
        super().__init__(
            name="zerohop",
            anchor="zerohop",
            info="Aligns sequencing reads on all cores, NUMA nodes and machines.",
        )
        # the name of a sample as zerohop wrote it; that in the report may be shorter
        self.written = set()
        runs = {}
        for file in self.find_log_files("zerohop"):
            summary = parse(file)
            if summary is None:
                continue
            name = summary["sample"] or summary["inputs"][0][0]
            sample = self.clean_s_name(name, file)
            if sample in runs:
                log.debug("Two files of sample %s: the later one, %s, is shown", sample, file["fn"])
            self.written.add(name)
            self.add_data_source(file, sample)
            self.add_software_version(summary["version"], sample)
            self.add_software_version(summary["engine"][1], sample, summary["engine"][0])
            runs[sample] = Run(summary)
        runs = self.ignore_samples(runs)
        if not runs:
            raise ModuleNoSamplesFound
        log.info("Found %d reports", len(runs))
        self.show_once()
        self.figures(runs)
        # of the others MultiQC's modules for samtools, mosdepth and Picard show this, from the files of --qc
        without_reports = {sample: run for sample, run in runs.items() if not run.has_reports()}
        self.reads(without_reports)
        self.insert_sizes(without_reports)
        self.duplicates(without_reports)
        self.libraries(runs)
        self.cytosines(runs)
        self.placement(runs)

    def show_once(self):
        """Custom content (zerohop align --mqc) of the same samples would come as columns of the same figures."""
        files = report.files.get("custom_content", [])
        report.files["custom_content"] = [file for file in files if not is_column_of(file, self.written)]

    def figures(self, runs):
        columns = {sample: run.own_figures() for sample, run in runs.items()}
        for sample in self.with_library_size():
            columns.get(sample, {}).pop("library_size", None)
        self.general_stats_addcols(columns, FIGURES)
        self.write_data_file({sample: run.figures() for sample, run in runs.items()}, "multiqc_zerohop")

    def with_library_size(self):
        """Samples of which the module for samtools markdup shows the size of the library."""
        files = report.files.get("samtools/markdup_txt", [])
        return {self.clean_s_name(file["fn"], file) for file in files}

    def reads(self, runs):
        if not runs:
            return
        categories = {
            "proper": {"name": "Properly paired", "color": "#2f7ed8"},
            "mapped": {"name": "Mapped otherwise", "color": "#8bbc21"},
            "unmapped": {"name": "Not mapped", "color": "#b1084c"},
        }
        title = {"id": "zerohop_reads", "title": "zerohop: Reads", "ylab": "Reads"}
        self.section("Reads", "What became of the reads.", bargraph, {s: run.reads() for s, run in runs.items()},
                     categories, title)

    def insert_sizes(self, runs):
        sizes = {sample: run.insert_sizes() for sample, run in runs.items()}
        sizes = {sample: counts for sample, counts in sizes.items() if counts}
        if not sizes:
            return
        title = {"id": "zerohop_insert_sizes", "title": "zerohop: Insert sizes", "xlab": "Insert size (bases)",
                 "ylab": "Proper pairs", "xsuffix": " b", "smooth_points": 500, "smooth_points_sumcounts": False}
        self.add_section(name="Insert sizes", anchor="zerohop-insert-sizes",
                         description="Template lengths of proper pairs, up to 4,095 bases.",
                         plot=linegraph.plot(sizes, title))
        self.write_data_file(sizes, "multiqc_zerohop_insert_sizes")

    def duplicates(self, runs):
        marked = {sample: run.duplicates() for sample, run in runs.items()}
        marked = {sample: counts for sample, counts in marked.items() if counts}
        if not marked:
            return
        categories = {
            "paired": {"name": "Mate mapped", "color": "#2f7ed8"},
            "single": {"name": "Mate not mapped", "color": "#8bbc21"},
            "paired_duplicates": {"name": "Duplicates, mate mapped", "color": "#f28f43"},
            "single_duplicates": {"name": "Duplicates, mate not mapped", "color": "#c42525"},
        }
        title = {"id": "zerohop_duplicates", "title": "zerohop: Duplicates", "ylab": "Mapped reads"}
        self.section("Duplicates", "Mapped reads that are duplicates of others.", bargraph, marked, categories, title)

    def libraries(self, runs):
        libraries = flat({sample: run.own_libraries() for sample, run in runs.items()})
        if not libraries:
            return
        columns = {
            "pairs": {"title": "Pairs", **COUNT},
            "pair_duplicates": {"title": "Duplicate pairs", **COUNT},
            "optical_pairs": {"title": "Optical duplicates", "description": "pairs", **COUNT},
            "single": {"title": "Single", "description": "reads without a mapped mate", **COUNT},
            "single_duplicates": {"title": "Single duplicates", **COUNT},
            "estimated_size": {"title": "Library size", "description": "different fragments, estimated", **COUNT},
        }
        title = {"id": "zerohop_libraries", "title": "zerohop: Libraries"}
        self.section("Libraries", "Duplicates of each library.", table, libraries, columns, title)

    def cytosines(self, runs):
        """Of reads that were converted (bisulfite, EM-seq)."""
        rows = flat({sample: run.cytosines() for sample, run in runs.items()})
        if not rows:
            return
        columns = {context: {"title": f"m{context}", "description": f"{context} that are methylated", **PERCENT}
                   for context in CONTEXTS}
        columns |= {
            "cytosines": {"title": "Cytosines", **COUNT},
            "converted": {"title": "Converted", "description": "of all cytosines", **PERCENT},
            "interval": {"title": "95 % interval", "description": "of those that are converted, in percent"},
        }
        title = {"id": "zerohop_cytosines", "title": "zerohop: Cytosines"}
        self.section("Cytosines", "How many cytosines are methylated, of all contigs and of controls.", table, rows,
                     columns, title)
        data = [{f"{sample} ({name})": line for sample, run in runs.items() for name, line in
                 run.m_bias(context).items()} for context in CONTEXTS]
        labels = [{"name": context, "ylab": "methylated (%)"} for context in CONTEXTS]
        title = {"id": "zerohop_m_bias", "title": "zerohop: M-bias", "xlab": "cycle", "ylab": "methylated (%)",
                 "ymin": 0, "ymax": 100, "data_labels": labels}
        self.add_section(name="M-bias", anchor="zerohop-m-bias", description="Methylated cytosines by cycle, for each"
                         " mate and strand.", plot=linegraph.plot(data, title))

    def placement(self, runs):
        labels = [{"name": "Memory", "ylab": "Bytes"}, {"name": "Workers", "ylab": "Workers"}]
        nodes = {"id": "zerohop_nodes", "title": "zerohop: NUMA nodes", "data_labels": labels}
        data = [{sample: run.memory() for sample, run in runs.items()},
                {sample: run.workers() for sample, run in runs.items()}]
        self.section("NUMA nodes", "On which nodes the kernel put index copies and instances of aligners, and on which"
                     " the workers ran.", bargraph, data, None, nodes)
        copies = flat({sample: run.placement() for sample, run in runs.items()})
        columns = {
            "asked_for": {"title": "Asked for", "description": "page policy: nodes"},
            "found": {"title": "Found", "description": "bytes present", **COUNT},
            "as_asked_for": {"title": "As asked for", "description": "on the nodes that were asked for", **PERCENT},
            "huge": {"title": "Huge pages", "description": "on huge pages", **PERCENT},
        }
        title = {"id": "zerohop_placement", "title": "zerohop: Placement"}
        if copies:
            self.section("Placement", "Each index copy, or instance of an aligner.", table, copies, columns, title)

    def section(self, name, description, kind, data, columns, title):
        """A section with one chart or table, whose data go to a file of the chart's name, too."""
        anchor = title["id"].replace("_", "-")
        self.add_section(name=name, anchor=anchor, description=description, plot=kind.plot(data, columns, title))


def parse(file):
    """The summary in the file; None, with a warning, if it is of another kind."""
    try:
        summary = json.loads(file["f"])
    except ValueError as error:
        log.warning("%s: it is not JSON: %s", file["fn"], error)
        return None
    if summary.get("schema_version") != SCHEMA_VERSION or "figures" not in summary:
        log.warning("%s: it is another version of this form; this plugin knows version %d", file["fn"], SCHEMA_VERSION)
        return None
    return summary


def is_column_of(file, samples):
    """Whether the file of custom content was written by zerohop for these samples."""
    if not file["fn"].endswith(".json"):
        return False
    try:
        content = json.loads(Path(file["root"], file["fn"]).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(content, dict):
        return False
    if content.get("id") == "zerohop_m_bias":
        # "SAMPLE (MATE, STRAND)"
        return all(line.rpartition(" (")[0] in samples for lines in content.get("data", []) for line in lines)
    return content.get("id") == "zerohop" and samples.issuperset(content.get("data", {}))


def flat(rows_by_sample):
    """Rows of several samples in one table."""
    return {f"{sample}: {name}": row for sample, rows in rows_by_sample.items() for name, row in rows.items()}
