//! minimap2's command line: what it says to zerohop, whose engine rammap has its records.

use super::command::{AlignCommand, line};
use zerohop_align::RAMMAP;
use zerohop_align::engines::{GivenOfMinimap2, embedded, options_of_minimap2};
use zerohop_process::quoted;

/// Options of minimap2, as zerohop has them.
#[derive(Debug, Default)]
pub(super) struct Translated {
    /// Options of zerohop.
    pub(super) options: Vec<String>,
    /// Those for --engine-args.
    pub(super) engine_args: Vec<String>,
    preset: Option<String>,
    asks_for_records: bool,
    asks_for_index: bool,
}

impl Translated {
    pub(super) fn take(&mut self, given: GivenOfMinimap2) {
        let is_needless = given.is_needless();
        let GivenOfMinimap2 { option, value } = given;
        match &*option {
            "-t" | "-o" | "-R" => self.options.extend([option, value]),
            "-y" => self.options.push("-C".to_owned()),
            "-a" => self.asks_for_records = true,
            "-d" => self.asks_for_index = true,
            // How much is said is not asked for.
            "-v" => {}
            _ if is_needless => {}
            _ => {
                if option == "-x" {
                    self.preset = Some(value.clone());
                }
                match (value.is_empty(), option.starts_with("--")) {
                    (true, _) => self.engine_args.push(option),
                    (false, true) => self.engine_args.push(format!("{option}={}", quoted(&value))),
                    (false, false) => self.engine_args.extend([option, quoted(&value)]),
                }
            }
        }
    }
}

/// The line for one of minimap2, behind its name; none if its preset, or an option, is not for rammap.
pub(super) fn right(words: &[String]) -> Option<String> {
    let (mut translated, mut files) = (Translated::default(), Vec::new());
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        match word.strip_prefix('-') {
            None | Some("") => files.push(word.clone()),
            Some(_) => {
                let (given, takes_next) = options_of_minimap2(word, rest.peek().map(|next| &***next))?;
                if takes_next {
                    rest.next();
                }
                given.into_iter().for_each(|given| translated.take(given));
            }
        }
    }
    let is_index = translated.asks_for_index && files.len() < 2;
    if !translated.preset.as_deref().map_or(is_index, is_of_rammap) {
        return None;
    }
    let engine = ["--engine", RAMMAP].map(str::to_owned);
    let mut files = files.into_iter();
    let (reference, reads) = (files.next(), files);
    let Translated { mut options, mut engine_args, asks_for_records, .. } = translated;
    if is_index {
        let mut words: Vec<String> = ["index".to_owned()].into_iter().chain(engine).chain(options).collect();
        if !engine_args.is_empty() {
            words.extend(["--engine-args".to_owned(), engine_args.join(" ")]);
        }
        words.extend(reference);
        return Some(line(&words));
    }
    // minimap2 writes PAF unless it is told otherwise, and -c is its CIGAR.
    match engine_args.iter().position(|option| option == "-c") {
        Some(at) if asks_for_records => drop(engine_args.remove(at)),
        None if !asks_for_records => engine_args.push("--paf".to_owned()),
        _ => {}
    }
    options.splice(..0, engine);
    let lanes = reads.map(|file| vec![file]).collect();
    Some(AlignCommand { options, engine_args, reference, lanes, output: None }.line())
}

/// The engine of a preset of minimap2 in a command line, as `-ax map-ont`: the program for those that rammap does not
/// have. None if there is none.
pub(super) fn engine_of_preset(words: &[String]) -> Option<&'static str> {
    let nexts = words.iter().skip(1).map(|next| Some(&**next)).chain([None]);
    words.iter().zip(nexts).find_map(|(word, next)| engine_of_word(word, next))
}

fn engine_of_word(word: &str, next: Option<&str>) -> Option<&'static str> {
    let (given, _) = options_of_minimap2(word, next)?;
    let preset = given.into_iter().find(|given| given.option == "-x")?.value;
    match is_of_rammap(&preset) {
        true => Some(RAMMAP),
        false => is_preset(&preset).then_some("minimap2"),
    }
}

fn is_of_rammap(preset: &str) -> bool {
    embedded(RAMMAP).is_some_and(|engine| engine.product(&format!("-x {}", quoted(preset))).is_ok())
}

/// Whether -x of minimap2 may name it; other aligners name their index by -x.
pub(super) fn is_preset(word: &str) -> bool {
    is_of_rammap(word) || ["sr", "short", "splice:sr", "ava-ont", "ava-pb"].contains(&word)
}

#[cfg(test)]
mod tests {
    #[test]
    fn command_lines_of_minimap2_are_written_out_for_rammap() {
        for (typed, wanted) in [
            (
                "minimap2 -ax map-ont -t4 ref.fa 1.fq",
                "align --engine rammap -t 4 --engine-args '-x map-ont' ref.fa 1.fq",
            ),
            (
                "minimap2 -aYx map-ont -p 0.5 -r500 -K 5G -o o.sam ref.fa 1.fq 2.fq",
                "align --engine rammap -o o.sam --engine-args '-Y -x map-ont -p 0.5 -r 500' ref.fa 1.fq --reads 2.fq",
            ),
            (
                "minimap2 -ax splice -C5 -uf --junc-bed j.bed ref.fa 1.fq",
                "align --engine rammap --engine-args '-x splice -C 5 -u f --junc-bed=j.bed' ref.fa 1.fq",
            ),
            (
                "minimap2 -x map-ont -y ref.fa 1.fq",
                "align --engine rammap -C --engine-args '-x map-ont --paf' ref.fa 1.fq",
            ),
            ("minimap2 -cx asm5 --cs ref.fa 1.fq", "align --engine rammap --engine-args '-c -x asm5 --cs' ref.fa 1.fq"),
            ("minimap2 -x map-hifi -I 8G -d r.mmi ref.fa", "index --engine rammap --engine-args '-x map-hifi' ref.fa"),
            ("minimap2 -d r.mmi ref.fa", "index --engine rammap ref.fa"),
            ("minimap2 -ax sr ref.fa 1.fq 2.fq", "align --engine minimap2 --engine-args '-x sr' ref.fa 1.fq 2.fq"),
            ("align -axmap-ont ref.fa 1.fq", "align --engine rammap --engine-args '-x map-ont' ref.fa 1.fq"),
            (
                "align -ax map-ont -y -I 8G -K 5G --MD --secondary=no -k 17 -p 0.5 ref.fa 1.fq",
                "align --engine rammap -C --engine-args '-x map-ont --MD --secondary=no -k 17 -p 0.5' ref.fa 1.fq",
            ),
            (
                "align --engine=rammap --engine-args=-Y --junc-bed j.bed -k15 ref.fa 1.fq",
                "align --engine=rammap --engine-args '-Y --junc-bed=j.bed -k 15' ref.fa 1.fq",
            ),
            ("align --engine rammap -U 1.fq -x ref -O bam", "align --engine rammap --format bam ref 1.fq"),
            ("align --engine bowtie2 -x ref -U rammap -S o.sam", "align --engine bowtie2 -o o.sam ref rammap"),
            ("index --engine bwa-mem -a bwtsw rammap", "index --engine bwa-mem rammap"),
            ("index --engine=rammap -x map-ont ref.fa", "index --engine=rammap --engine-args '-x map-ont' ref.fa"),
            ("index -x map-ont -d r.mmi ref.fa", "index --engine rammap --engine-args '-x map-ont' ref.fa"),
            ("index --engine rammap -d r.mmi ref.fa", "index --engine rammap ref.fa"),
            (
                "index --engine rammap --engine-args=-k17 -x map-ont ref.fa",
                "index --engine rammap --engine-args '-k17 -x map-ont' ref.fa",
            ),
        ] {
            let said = crate::mistyped::instead(typed.split(' ').map(Into::into)).unwrap_or_default();
            assert!(said.ends_with(&format!(": write\n  zerohop {wanted}")), "{typed}: {said}");
        }
    }
}
