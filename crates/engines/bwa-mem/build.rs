//! Compares the objects of the library that zerohop looks into (`src/layout.rs`) with the headers of the library that
//! is linked, by assertions that are compiled. The headers lie where the build script of bwa-mem3-sys has put them.

#[path = "src/layout.rs"]
#[allow(dead_code)]
mod layout;

use layout::{ContigEntry, Contigs, Elements, Fm, SegmentHeader, SegmentPlan, SegmentSection};
use std::env::var;
use std::error::Error;
use std::fs;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};

/// The version of bwa-mem3 whose objects those of `layout` are.
const LIBRARY: &str = "0.15.0";
/// A header of the library.
const HEADER: &str = "build/bwa-mem3/src/FMI_search.h";
/// How deep the folders of other build scripts lie in that of all: cargo has had `PACKAGE-HASH/out` and
/// `PACKAGE/HASH/out`.
const DEPTH: usize = 3;

/// Functions of the library that zerohop calls, with their types.
const FUNCTIONS: [(&str, &str); 5] = [
    ("bwa_shm_compute", "int (*)(const char *, bwa_shm_layout_t *, bool, int, int)"),
    ("bwa_shm_pack_into", "int (*)(const bwa_shm_layout_t *, uint8_t *)"),
    ("bwa_shm_layout_free", "void (*)(bwa_shm_layout_t *)"),
    ("FMI_search::load_index_from_shm", "void (FMI_search::*)(uint8_t *, size_t)"),
    ("indexEle::bwa_idx_load_ele_from_shm", "void (indexEle::*)(uint8_t *, size_t, bool)"),
];

/// The assertions of a type: its size, and where its fields lie.
macro_rules! same {
    ($out:ident, $theirs:literal, $ours:ident { $($field:literal = $own:ident),* $(,)? }) => {
        $out += &format!("static_assert(sizeof({0}) == {1}, \"{0}\");\n", $theirs, size_of::<$ours>());
        $($out += &format!(
            "static_assert(offsetof({0}, {1}) == {2}, \"{0}.{1}\");\n",
            $theirs, $field, offset_of!($ours, $own)
        );)*
    };
}

fn assertions() -> String {
    let mut out = "#include \"FMI_search.h\"\n#include \"bwa_shm.h\"\n#include <type_traits>\n".to_owned();
    same!(out, "FMI_search", Fm {
        "idx" = elements, "reference_seq_len" = text_and_sentinel, "sentinel_index" = sentinel,
        "sa_compx" = sample_shift, "sa_compx_mask" = sample_mask, "file_name" = path, "count" = counts,
        "sa_ls_word" = low_words, "sa_ms_byte" = high_bytes, "cp_occ" = blocks, "shm_base" = shared,
        "shm_len" = shared_bytes,
    });
    same!(out, "bwaidx_fm_t", Elements {
        "bns" = contigs, "pac" = bases, "is_shm" = is_shared, "l_mem" = bytes, "mem" = memory,
    });
    same!(out, "bntseq_t", Contigs {
        "l_pac" = bases, "n_seqs" = count, "seed" = seed, "anns" = all, "n_holes" = hole_count, "ambs" = holes,
        "fp_pac" = file, "pos2rid_bucket" = buckets,
    });
    same!(out, "bntann1_t", ContigEntry {
        "offset" = offset, "len" = length, "n_ambs" = hole_count, "gi" = number, "is_alt" = is_alternate,
        "name" = name, "anno" = comment,
    });
    same!(out, "bwa_shm_layout_t", SegmentPlan {
        "prefix" = prefix, "bns" = contigs, "reference_seq_len" = text_and_sentinel, "count" = counts,
        "sentinel_index" = sentinel, "sa_compx" = sample_shift, "disk_sa_compx" = sample_shift_of_file,
        "densify_threads" = threads, "ref_string_len" = unpacked_bytes, "total_size" = bytes,
        "n_sections" = section_count, "sections" = sections,
    });
    same!(out, "bwa_shm_section_t", SegmentSection {
        "kind" = kind, "flags" = flags, "offset" = offset, "size" = bytes, "reserved" = reserved,
    });
    same!(out, "bwa_shm_header_t", SegmentHeader {
        "magic" = magic, "version" = version, "n_sections" = section_count, "total_size" = bytes,
        "reserved" = reserved,
    });
    for (name, value) in
        [("BWA_SHM_MAGIC", layout::SEGMENT_MAGIC), ("BWA_SHM_VERSION", u64::from(layout::SEGMENT_VERSION))]
    {
        out += &format!("static_assert({name} == {value}ull, \"{name}\");\n");
    }
    for (name, its) in FUNCTIONS {
        out += &format!("static_assert(std::is_same<decltype(&{name}), {its}>::value, \"{name}\");\n");
    }
    out
}

/// The headers of this version of the library, of all builds of it that are complete.
fn headers(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let header = path.join(HEADER);
        if header.is_file() {
            let version = fs::read_to_string(path.join("build/bwa-mem3/version.txt")).unwrap_or_default();
            // cargo writes `output` when the build script has ended well
            if version.trim() == LIBRARY && path.with_file_name("output").is_file() {
                found.push(header);
            }
        } else if depth > 1 && path.is_dir() {
            headers(&path, depth - 1, found);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/layout.rs");
    println!("cargo::rustc-check-cfg=cfg(layout_is_asserted)");
    let out = PathBuf::from(var("OUT_DIR")?);
    let mut found = Vec::new();
    if let Some(all) = out.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "build")) {
        headers(all, DEPTH, &mut found);
    }
    if found.is_empty() {
        println!("cargo::warning=the headers of bwa-mem3 were not found: its objects are not compared with layout.rs");
        return Ok(());
    }
    let file = out.join("layout.cpp");
    fs::write(&file, assertions())?;
    for header in found {
        assert_same(&file, header.parent().unwrap_or(Path::new(".")))?;
    }
    println!("cargo::rustc-cfg=layout_is_asserted");
    Ok(())
}

/// Compiles the assertions with the headers in this folder, as bwa-mem3-sys compiles the library.
fn assert_same(assertions: &Path, headers: &Path) -> Result<(), Box<dyn Error>> {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").cargo_metadata(false).warnings(false).file(assertions);
    // Fields that are private are compared, too.
    build.flag("-fno-access-control").flag_if_supported("-Wno-invalid-offsetof");
    build.include(headers).include(headers.join("../ext/sse2neon"));
    build.define("ENABLE_PREFETCH", None).define("V17", "1").define("MATE_SORT", "0");
    if var("CARGO_CFG_TARGET_ARCH")? == "x86_64" {
        build.flag("-msse4.2");
    } else {
        for level in ["__SSE__", "__SSE2__", "__SSE3__", "__SSSE3__", "__SSE4_1__", "__SSE4_2__"] {
            build.define(level, "1");
        }
    }
    Ok(build.try_compile("bwa-mem3-layout")?)
}
