"""What the JSON of one run holds, as rows of tables and bars of charts."""

BOUND = ("local", "interleave")
# What no report of --qc says
OWN = ("library_size", "n50", "identity", "coverage", "reads_per_second")

# In the order of the counts by cycle
CONTEXTS = ("CpG", "CHG", "CHH")
STRANDS = ("original top", "original bottom")
MATES = ("first reads", "second reads")


class Run:
    """A run of `zerohop align`."""

    def __init__(self, summary):
        self.summary = summary
        self.tally = summary["run"]["tally"]

    def has_reports(self):
        """Whether --qc made reports of the records: MultiQC has modules of its own for these."""
        return bool((self.summary["run"].get("sorted") or {}).get("reports"))

    def figures(self):
        """The figures of a run that can be told."""
        return {name: value for name, value in self.summary["figures"].items() if value is not None}

    def own_figures(self):
        """Those that MultiQC's own modules do not have."""
        return {name: value for name, value in self.figures().items() if not self.has_reports() or name in OWN}

    def reads(self):
        """What became of the reads."""
        proper, mapped = self.tally["properly_paired"], self.tally["mapped"]
        return {"proper": proper, "mapped": mapped - proper, "unmapped": self.tally["reads"] - mapped}

    def insert_sizes(self):
        """Pairs by insert size, from the least that occurs."""
        counts = self.tally["insert"]["counts"]
        first = next((size for size, pairs in enumerate(counts) if pairs), len(counts))
        return {size: counts[size] for size in range(first, len(counts))}

    def duplicates(self):
        """Reads that are duplicates and that are not; none if duplicates were not looked for."""
        found = (self.summary["run"].get("sorted") or {}).get("duplicates")
        if not found:
            return {}
        return {
            "paired": found["paired"] - found["paired_duplicates"],
            "single": found["single"] - found["single_duplicates"],
            "paired_duplicates": found["paired_duplicates"],
            "single_duplicates": found["single_duplicates"],
        }

    def libraries(self):
        """The duplicates of each library, by its name."""
        found = (self.summary["run"].get("sorted") or {}).get("duplicates") or {"libraries": []}
        names = ("pairs", "single", "pair_duplicates", "single_duplicates", "optical_pairs", "estimated_size")
        return {
            library["name"]: {name: library[name] for name in names if library[name] is not None}
            for library in found["libraries"]
        }

    def own_libraries(self):
        """Those that MultiQC's own modules do not show: they show the only one, and of several not each."""
        libraries = self.libraries()
        return {} if self.has_reports() and len(libraries) < 2 else libraries

    def cytosines(self):
        """The part of methylated cytosines of all contigs, and of each control, by context; none of other reads."""
        found = self.summary["run"].get("methylation")
        if not found:
            return {}
        controls = {contig["name"]: contig["contexts"] for contig in found["contigs"] if contig["is_control"]}
        return {name: shares(contexts) for name, contexts in {"all": found["all"], **controls}.items()}

    def m_bias(self, context):
        """The part of methylated cytosines of a context by cycle, for each mate and strand that there is."""
        found = self.summary["run"].get("methylation") or {"cycles": []}
        lines = {}
        for strand, mates in zip(STRANDS, found["cycles"]):
            for mate, cycles in zip(MATES, mates):
                counts = enumerate((cycle[CONTEXTS.index(context)] for cycle in cycles), 1)
                shown = {cycle: share(of_cycle) for cycle, of_cycle in counts if any(of_cycle.values())}
                lines[f"{mate}, {strand}"] = shown
        return {name: line for name, line in lines.items() if line}

    def workers(self):
        """Workers by node."""
        return count((worker["node"], 1) for worker in self.summary["plan"]["workers"])

    def memory(self):
        """Bytes of index copies and instances by node, where the kernel put them."""
        return count(place for _, _, census in self.pieces() for place in census["per_node"])

    def placement(self):
        """Each index copy or instance: what was asked for, and what was found."""
        return {name: placed(asked, census) for name, asked, census in self.pieces() if census["present"]}

    def pieces(self):
        """Name, what was asked for and what was found of each piece of memory."""
        for number, copy in enumerate(self.summary["replicas"]):
            yield f"copy {number}", copy["placement"], copy["census"]
        for number, instance in enumerate(self.summary["run"]["instances"]):
            for kind in ("private", "shared"):
                yield f"instance {number}, {kind}", instance["plan"]["placement"], instance[kind]


def share(cytosines):
    """The part of methylated ones in percent."""
    return 100 * cytosines["methylated"] / (cytosines["methylated"] + cytosines["converted"])


def shares(contexts):
    """The part of methylated ones by context, how many there are, and between which values the converted part lies."""
    row = {told["context"]: told["methylated_percent"] for told in contexts if told["context"] != "C"}
    every = contexts[-1]
    low, high = every["interval_percent"]
    counts = every["cytosines"]
    return {
        **row,
        "cytosines": counts["methylated"] + counts["converted"],
        "converted": 100 - every["methylated_percent"],
        "interval": f"{100 - high:.2f} to {100 - low:.2f}",
    }


def placed(asked, census):
    """What was asked for a piece of memory, and what was found."""
    bound = asked["pages"] in BOUND
    row = {
        "asked_for": f"{asked['pages']}: {', '.join(map(str, asked['nodes']))}" if bound else asked["pages"],
        "found": census["present"],
        "huge": 100 * census["huge"] / census["present"],
    }
    if bound:
        there = sum(size for node, size in census["per_node"] if node in asked["nodes"])
        row["as_asked_for"] = 100 * there / census["present"]
    return row


def count(places):
    """Sums of what lies on each node."""
    sums = {}
    for node, number in places:
        name = "no node" if node is None else f"node {node}"
        sums[name] = sums.get(name, 0) + number
    return sums
