//! The options of NCBI's blastp, blastx and blastn 2.12, as their help lists them.

use super::{EngineOption, flag, only, refused, same};

const FILES: &str = "zerohop names database, queries and files itself: give --db, QUERIES and -o to zerohop search";
const FORMAT: &str = "give --format and --columns to zerohop search";
const THREADS: &str = "give -t to zerohop search";
const LIMIT: &str = "give -k to zerohop search";
const SIZE: &str = "zerohop gives the size of the whole database: leave it out";
const NO_SEARCH: &str = "it does not search: call the program itself";
const STRATEGY: &str = "the strategy would name another database: give its options one by one";
const REMOTE: &str = "parts are searched here: leave it out";
const ORDER: &str = "the merge takes the program's own order and names: leave it out, and sort the output";
const WHOLE: &str = "what it keeps of a part depends on what else is in the part: leave it out, or search the whole \
                     with the program itself";
const CUTS: &str = "it leaves out a share of the database, whose size the E-values would not follow: build a database \
                    of the sequences that you want";
const MASKS: &str = "databases of 'zerohop db build' have no masks: mask the letters in the FASTA that it is built of";
const UNGAPPED: &str = "E-values of ungapped alignments depend on what else is in the part: leave it out, or search \
                        the whole with the program itself";
const COVER: &str = "the search leaves out short alignments only when it writes lines, so parts would keep other \
                     subjects: add qcovhsp to --columns and filter the output";

const RUNS: &str = "the program itself gives other lines from run to run with it: leave it out";
const FILTER: &str = "it was not tried over parts: mask the queries with small letters and add -lcase_masking";
const INDEX: &str = "parts have no such index: leave it out";

/// Options of all three.
pub(super) const COMMON: &[EngineOption] = &[
    refused(&["-h", "-help", "-version"], NO_SEARCH),
    refused(&["-import_search_strategy", "-export_search_strategy"], STRATEGY),
    refused(&["-query", "-db", "-out", "-subject", "-subject_loc"], FILES),
    refused(&["-outfmt", "-show_gis", "-html", "-line_length"], FORMAT),
    refused(&["-num_descriptions", "-num_alignments", "-max_target_seqs"], LIMIT),
    refused(&["-sorthits", "-sorthsps", "-parse_deflines"], ORDER),
    refused(&["-dbsize", "-searchsp"], SIZE),
    refused(&["-num_threads"], THREADS),
    refused(&["-remote"], REMOTE),
    refused(&["-gilist", "-seqidlist", "-negative_gilist", "-negative_seqidlist", "-entrez_query"], CUTS),
    refused(&["-taxids", "-negative_taxids", "-taxidlist", "-negative_taxidlist"], CUTS),
    refused(&["-db_soft_mask", "-db_hard_mask"], MASKS),
    refused(&["-culling_limit", "-best_hit_overhang", "-best_hit_score_edge"], WHOLE),
    refused(&["-ungapped"], UNGAPPED),
    refused(&["-qcov_hsp_perc"], COVER),
    same(&["-query_loc"], &["-query_loc 10-200"]),
    same(&["-evalue"], &["-evalue 1e-3"]),
    same(&["-soft_masking"], &["-soft_masking true", "-soft_masking false"]),
    flag(&["-lcase_masking"], &["-lcase_masking"]),
    flag(&["-subject_besthit"], &["-subject_besthit"]),
    same(&["-xdrop_ungap"], &["-xdrop_ungap 4"]),
    same(&["-xdrop_gap"], &["-xdrop_gap 10"]),
    same(&["-xdrop_gap_final"], &["-xdrop_gap_final 15"]),
    same(&["-window_size"], &["-window_size 0"]),
    only(&["-mt_mode"], &["0", "1"], &["-mt_mode 1"]),
];

/// More options of blastp and blastx.
pub(super) const PROTEIN: &[EngineOption] = &[
    same(&["-gapopen"], &["-gapopen 9 -gapextend 2"]),
    same(&["-gapextend"], &["-gapopen 9 -gapextend 2"]),
    same(&["-matrix"], &["-matrix BLOSUM45", "-matrix PAM70"]),
    same(&["-word_size"], &["-word_size 2"]),
    same(&["-threshold"], &["-threshold 15"]),
    same(&["-comp_based_stats"], &["-comp_based_stats 0", "-comp_based_stats 1", "-comp_based_stats 3"]),
    same(&["-seg"], &["-seg yes", "-seg '10 1.8 2.1'"]),
    refused(&["-use_sw_tback"], RUNS),
    refused(&["-ipglist", "-negative_ipglist"], CUTS),
];

/// More options of blastp.
pub(super) const BLASTP: &[EngineOption] = &[
    only(&["-task"], &["blastp", "blastp-fast", "blastp-short"], &["-task blastp-fast", "-task blastp-short"]),
    same(&["-max_hsps"], &["-max_hsps 1"]),
];

/// More options of blastx.
pub(super) const BLASTX: &[EngineOption] = &[
    only(&["-task"], &["blastx", "blastx-fast"], &["-task blastx-fast"]),
    same(&["-strand"], &["-strand plus"]),
    same(&["-query_gencode"], &["-query_gencode 11"]),
    same(&["-max_intron_length"], &["-max_intron_length 200"]),
    same(&["-sum_stats"], &["-sum_stats false"]),
    same(&["-max_hsps"], &["-max_hsps 1 -sum_stats false"]),
];

/// More options of blastn.
pub(super) const BLASTN: &[EngineOption] = &[
    only(
        &["-task"],
        &["megablast", "dc-megablast", "blastn"],
        &["-task megablast", "-task dc-megablast", "-task blastn"],
    ),
    // Shorter words find so much that BLAST's list of candidates is too short for it.
    only(&["-word_size"], &["7", "11", "28"], &["-task blastn -word_size 7"]),
    same(&["-strand"], &["-task blastn -strand plus"]),
    same(&["-gapopen"], &["-task blastn -gapopen 4 -gapextend 2"]),
    same(&["-gapextend"], &["-task blastn -gapopen 4 -gapextend 2"]),
    same(&["-penalty"], &["-task blastn -penalty -2 -reward 1"]),
    same(&["-reward"], &["-task blastn -penalty -2 -reward 1"]),
    same(&["-dust"], &["-task blastn -dust no"]),
    refused(&["-filtering_db", "-window_masker_taxid", "-window_masker_db"], FILTER),
    refused(&["-use_index", "-index_name"], INDEX),
    same(&["-perc_identity"], &["-task blastn -perc_identity 80"]),
    same(&["-max_hsps"], &["-task blastn -max_hsps 1"]),
    same(&["-template_type"], &["-task dc-megablast -template_type optimal -template_length 18"]),
    same(&["-template_length"], &["-task dc-megablast -template_type optimal -template_length 18"]),
    same(&["-sum_stats"], &["-task blastn -sum_stats true"]),
    flag(&["-no_greedy"], &["-no_greedy -gapopen 5 -gapextend 2"]),
    same(&["-min_raw_gapped_score"], &["-task blastn -min_raw_gapped_score 60"]),
    same(&["-off_diagonal_range"], &["-task blastn -window_size 40 -off_diagonal_range 5"]),
];
