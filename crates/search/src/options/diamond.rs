//! The options of `diamond blastp` 2.1.3, as its help lists them.

use super::{EngineOption, flag, only, refused, same};

const FILES: &str = "zerohop names database, queries and files itself: give --db, QUERIES and -o to zerohop search";
const FORMAT: &str = "give --format and --columns to zerohop search";
const THREADS: &str = "give -t to zerohop search";
const LIMIT: &str = "give -k to zerohop search";
const TALK: &str = "zerohop reads what diamond says: leave it out";
const SIZE: &str = "zerohop gives the letters of the whole database: leave it out";
const OWN_FILES: &str = "it writes files of its own, of which there would be one set for each part: leave it out";
const WHOLE: &str = "what it keeps of a part depends on what else is in the part: leave it out, or search the whole \
                     with diamond itself";
const CUTS: &str = "it leaves out a share of the database, whose size the E-values would not follow: \
                    build a database of the sequences that you want";
const TRANSLATED: &str = "it is for translated queries, and proteins are searched here: leave it out";
const MERGE: &str = "zerohop spreads the search itself: leave it out";
const HITS: &str = "diamond leaves self hits out after it has counted -k subjects, each part by itself: \
                    search with a -k that is larger by 1 and take them out of the output";
const DIGITS: &str = "diamond estimates E-values of such a matrix itself, and three printed digits do not tell their \
                      order: take one of diamond's matrices (--matrix), or search the whole with diamond itself";

pub(super) const OPTIONS: &[EngineOption] = &[
    // Aligner and clustering options
    same(&["--evalue", "-e"], &["--evalue 10", "-e1e-10"]),
    only(
        &["--comp-based-stats"],
        &["0", "1", "2", "3", "4"],
        &["--comp-based-stats 0", "--comp-based-stats 2", "--comp-based-stats 3", "--comp-based-stats 4"],
    ),
    only(&["--masking"], &["0", "1", "none", "seg", "tantan"], &["--masking none", "--masking seg"]),
    only(&["--soft-masking"], &["0", "tantan"], &["--soft-masking tantan"]),
    only(&["--motif-masking"], &["0", "1"], &["--motif-masking 1"]),
    same(&["--approx-id"], &["--approx-id 40"]),
    only(&["--ext"], &["banded-fast", "banded-slow", "full"], &["--ext banded-slow", "--ext full"]),
    same(&["--memory-limit", "-M"], &["-M 4G"]),
    refused(&["--tmpdir", "-t"], "zerohop names the folder: set TMPDIR"),
    // Aligner options
    refused(&["--query", "-q", "--db", "-d", "--out", "-o"], FILES),
    refused(&["--strand", "--min-orf", "-l", "--frameshift", "-F", "--query-gencode", "--forwardonly"], TRANSLATED),
    refused(&["--un", "--al", "--unfmt", "--alfmt", "--daa", "-a", "--compress", "--no-unlink"], OWN_FILES),
    refused(
        &["--unal"],
        "diamond 2.1.3 takes queries with hits for those without: take --format pairwise, which names all queries",
    ),
    refused(&["--max-target-seqs", "-k"], LIMIT),
    refused(&["--top", "--range-culling", "--long-reads", "--taxon-k", "--global-ranking", "-g"], WHOLE),
    refused(&["--iterate", "--freq-masking", "--freq-sd", "--linsearch", "--lin-stage1"], WHOLE),
    only(&["--max-hsps"], &["1"], &["--max-hsps 1"]),
    same(&["--min-score"], &["--min-score 60"]),
    same(&["--id"], &["--id 40"]),
    same(&["--query-cover"], &["--query-cover 60"]),
    same(&["--subject-cover"], &["--subject-cover 60"]),
    flag(&["--faster"], &["--faster"]),
    flag(&["--fast"], &["--fast"]),
    flag(&["--mid-sensitive"], &["--mid-sensitive"]),
    flag(&["--sensitive"], &["--sensitive"]),
    flag(&["--more-sensitive"], &["--more-sensitive"]),
    flag(&["--very-sensitive"], &["--very-sensitive"]),
    flag(&["--ultra-sensitive"], &["--ultra-sensitive"]),
    flag(&["--swipe"], &["--swipe"]),
    same(&["--block-size", "-b"], &["-b 0.00005"]),
    same(&["--index-chunks", "-c"], &["-c 1"]),
    same(&["--gapopen"], &["--gapopen 10"]),
    same(&["--gapextend"], &["--gapextend 2", "--gapopen 9 --gapextend 2"]),
    same(
        &["--matrix"],
        &["--matrix BLOSUM45", "--matrix BLOSUM80", "--matrix pam70 --comp-based-stats 0", "--matrix BLOSUM50"],
    ),
    refused(&["--custom-matrix"], DIGITS),
    refused(&["--salltitles", "--sallseqid", "--xml-blord-format"], FORMAT),
    refused(&["--no-self-hits"], HITS),
    refused(&["--taxonlist", "--taxon-exclude", "--seqidlist", "--skip-missing-seqids"], CUTS),
    refused(&["--outfmt", "-f", "--header"], FORMAT),
    // General options
    refused(&["--threads", "-p"], THREADS),
    refused(&["--verbose", "-v", "--log", "--quiet"], TALK),
    // Advanced options
    only(&["--algo"], &["0", "1", "ctg"], &["--algo 1", "--algo ctg"]),
    same(&["--bin"], &["--bin 8"]),
    same(&["--seed-cut"], &["--seed-cut 0.9"]),
    same(&["--id2"], &["--id2 12"]),
    same(&["--xdrop", "-x"], &["--xdrop 8"]),
    same(&["--gapped-filter-evalue"], &["--gapped-filter-evalue 1"]),
    same(&["--band"], &["--band 32"]),
    same(&["--shapes", "-s"], &["--shapes 2"]),
    same(&["--shape-mask"], &["--shape-mask 111011010010111"]),
    refused(&["--multiprocessing", "--mp-init", "--mp-recover", "--mp-query-chunk", "--parallel-tmpdir"], MERGE),
    same(&["--ext-chunk-size"], &["--ext-chunk-size 16"]),
    flag(&["--no-ranking"], &["--no-ranking"]),
    refused(&["--culling-overlap", "--range-cover"], WHOLE),
    refused(&["--dbsize"], SIZE),
    refused(&["--no-auto-append"], FILES),
    same(&["--stop-match-score"], &["--stop-match-score 5"]),
    same(&["--tantan-minMaskProb"], &["--tantan-minMaskProb 0.5"]),
    same(&["--file-buffer-size"], &["--file-buffer-size 1000000"]),
    refused(&["--target-indexed"], "diamond 2.1.3 crashes with it: leave it out"),
    flag(&["--ignore-warnings"], &["--ignore-warnings"]),
];
