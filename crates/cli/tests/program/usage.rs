//! Wrong usage: exit status 2, and a first line on standard error that says what to type instead.

use crate::table::{Case, Inputs, Said, data, words};

/// What is said, and a command line.
const ROWS: &[(&str, &str)] = &[
    ("no reads were given: name one or two files, or '-' for standard input", "align ../ref.fa"),
    ("standard input ('-') can be read only once", "align ../ref.fa - -"),
    ("standard input ('-') can be read only once", "align ../ref.fa - --reads -"),
    ("1.fq was given as both files of a pair", "align ../ref.fa 1.fq 1.fq"),
    ("./1.fq was given as both files of a pair", "align ../ref.fa 1.fq ./1.fq"),
    ("1.fq was given as both files of a pair", "align ../ref.fa --reads 1.fq 1.fq"),
    (
        "there is no file 1.fq,2.fq: several lanes are no list with commas, but have --reads each: write",
        "align ../ref.fa 1.fq,2.fq",
    ),
    (
        "there is no file a_1.fq,b_1.fq: several lanes are no list with commas, but have --reads each: write",
        "align ../ref.fa a_1.fq,b_1.fq a_2.fq,b_2.fq",
    ),
    ("with --interleaved each lane has one file", "align ../ref.fa -p --reads 1.fq 2.fq"),
    (
        "the read group line 'garbage' must start with '@RG' and a tab (or \\t), as in '@RG\\tID:x\\tSM:y'",
        "align -R garbage ../ref.fa 1.fq",
    ),
    (
        "the read group line '@RG\tSM:x' must have one ID, of characters of ASCII",
        "align -R '@RG\\tSM:x' ../ref.fa 1.fq",
    ),
    (
        "'sample' is not a read group field: it must be two letters, a colon and a value, as in 'SM:sample'",
        "align --rg sample ../ref.fa 1.fq",
    ),
    ("the read group 'x' has more than one SM", "align -R '@RG\\tID:x\\tSM:a\\tSM:b' ../ref.fa 1.fq"),
    ("the read group '1' has more than one ID", "align --rg SM:a --rg ID:b ../ref.fa 1.fq"),
    (
        "2 read groups (-R) were given for one lane: give one for all, or one each",
        "align -R '@RG\\tID:a' -R '@RG\\tID:b' ../ref.fa 1.fq",
    ),
    (
        "two different read groups have the ID 'a'",
        "align -R '@RG\\tID:a' -R '@RG\\tID:a\\tSM:b' ../ref.fa 1.fq --reads 2.fq",
    ),
    (
        "--barcode-tag is looked for in the fields of BAM, or in the comments of the reads: give -C, too, which copies \
         them",
        "align --sort --mark-duplicates --barcode-tag BX -o ../out/x.bam ../ref.fa 1.fq 2.fq",
    ),
    ("--shards needs an output file (-o)", "align --shards 2 ../ref.fa 1.fq"),
    (
        "invalid value '0' for '--replicas <auto|K>': it must be a whole number from 1 to 65536, or 'auto'",
        "align --replicas 0 ../ref.fa 1.fq",
    ),
    (
        "invalid value 'two' for '--replicas <auto|K>': it must be a whole number from 1 to 65536, or 'auto'",
        "align --replicas two ../ref.fa 1.fq",
    ),
    ("invalid value '0' for '--threads <N>': it must be a whole number from 1 to 65536", "align -t 0 ../ref.fa 1.fq"),
    (
        "invalid value '10' for '--level <LEVEL>': it must be a whole number from 0 to 9",
        "align --level 10 ../ref.fa 1.fq",
    ),
    (
        "--level is for BAM and CRAM, and for compressed files of reads: name the output .bam or .cram",
        "align --level 3 -o ../out/x.sam ../ref.fa 1.fq",
    ),
    (
        "--cram-version is for CRAM: name the output .cram, or give --format cram",
        "align --cram-version 3.1 -o ../out/x.bam ../ref.fa 1.fq",
    ),
    (
        "--reference-uri is for CRAM: name the output .cram, or give --format cram",
        "align --reference-uri ref.fa -o ../out/x.bam ../ref.fa 1.fq",
    ),
    ("-r, --reads: the index of bwa-mem is for reads of any length", "index --engine bwa-mem -r 100 ../ref.fa"),
    ("--buffer 4.0 KiB: it must be 1.0 MiB or more", "topo --measure --buffer 4K"),
    ("write --ranks=2: a value after a space is taken for a file", "align --ranks 2 ../ref.fa 1.fq"),
    ("the argument '--interleaved' cannot be used with '[READS_2]'", "align -p ../ref.fa 1.fq 2.fq"),
    ("unexpected argument '--threds' found", "align --threds 2 ../ref.fa 1.fq"),
    ("zerohop has no option -N: write", "align -N 5 ../ref.fa 1.fq"),
    ("zerohop has no option -@: write", "align -@ 2 ../ref.fa 1.fq"),
    ("zerohop has no option -1: write", "align -1 1.fq ../ref.fa"),
    ("zerohop has no option -S: write", "align -S x.sam ../ref.fa 1.fq"),
    ("zerohop has no option -x: write", "align -x ../ref.fa -1 1.fq -2 2.fq -S out.sam"),
    ("there is no command 'bwa mem': write", "bwa mem -t 2 ../ref.fa 1.fq 2.fq"),
    (
        "-p says that the mates follow each other in one file, and threads are -t: write",
        "align -p 2 ../ref.fa 1.fq 2.fq",
    ),
    ("the command is missing: write", "../ref.fa 1.fq 2.fq"),
    ("the command is missing: write", "-t 2 ../ref.fa 1.fq 2.fq"),
    ("the reference is behind its option: write", "plan ../ref.fa"),
    ("https://x.org/1.fq: zerohop reads files and pipes: write", "align ../ref.fa https://x.org/1.fq"),
    ("an index has the name of its reference, with endings: write", "index -p prefix ../ref.fa"),
    (
        "'third.fq' is one file too many: REF, and one file of reads or the two of pairs. Each further lane needs \
         --reads, as in --reads L2_1.fq.gz L2_2.fq.gz",
        "align ../ref.fa 1.fq 2.fq third.fq",
    ),
    ("--output-dir is for the samples of a sheet (--samples)", "align --output-dir samples ../ref.fa 1.fq"),
    (
        "--engine-args: -d 100000 is out of range: it must be 0 to 32767, and 0 turns it off",
        "align --engine bwa-mem --engine-args '-d 100000' ../ref.fa 1.fq",
    ),
    (
        "shard.3.sam is there, from a run with more shards, and would pass for a shard of this one: remove it and \
         those after it, or name another output",
        "align --shards 2 -o shard.sam ../ref.fa 1.fq",
    ),
    ("write --sort=name: a value after a space is taken for a file", "align --sort name ../ref.fa 1.fq 2.fq"),
    (
        "write --mark-duplicates=picard: a value after a space is taken for a file",
        "align --mark-duplicates picard ../ref.fa 1.fq",
    ),
    ("out.sam.gz: SAM is not written compressed: name the file .bam", "align -o out.sam.gz ../ref.fa 1.fq"),
    (
        "bwa makes its index itself: 'zerohop align --engine bwa --build-index' has it do so",
        "index --engine bwa ../ref.fa",
    ),
    ("unrecognized subcommand 'bogus'", "bogus"),
    ("there is no command 'bogus'", "man bogus"),
    ("1.fq is an input and cannot be the output too", "align -o 1.fq ../ref.fa 1.fq"),
    ("./1.fq is an input and cannot be the output too", "align -o ./1.fq ../ref.fa 2.fq 1.fq"),
    ("link.fq is an input and cannot be the output too", "align -o link.fq ../ref.fa 1.fq"),
    ("own.fa is an input and cannot be the output too", "align -o own.fa own.fa 1.fq"),
    ("1.fq is an input and cannot be the output too", "align -o out.sam --json 1.fq ../ref.fa 1.fq"),
    ("1.fq is an input and cannot be the output too", "align -o out.sam --mqc 1.fq ../ref.fa 1.fq"),
    ("./out.sam was given as two outputs", "align -o out.sam --json ./out.sam ../ref.fa 1.fq"),
    ("./out.sam was given as two outputs", "align -o out.sam --mqc ./out.sam ../ref.fa 1.fq"),
];

#[test]
fn wrong_usage() {
    let inputs = Inputs::new();
    let [one, two, reference] = ["phix.1.fastq", "phix.2.fastq", "phix.fasta"].map(data);
    let files: [(&str, &[u8]); 5] =
        [("1.fq", &one), ("2.fq", &two), ("own.fa", &reference), ("shard.2.sam", b""), ("shard.3.sam", b"")];
    let folder = inputs.folder(&files);
    std::os::unix::fs::symlink("1.fq", folder.join("link.fq")).unwrap();
    let case = |(line, arguments): &(&str, &str)| Case {
        folder: folder.clone(),
        arguments: words(arguments),
        status: 2,
        said: Said::First(format!("error: {line}")),
    };
    inputs.check(&ROWS.iter().map(case).collect::<Vec<_>>());
    for (name, bytes) in files {
        assert_eq!(std::fs::read(folder.join(name)).unwrap(), bytes, "{name} was changed");
    }
    assert!(!folder.join("out.sam").exists() && !folder.join("out.sam.gz").exists());
}
