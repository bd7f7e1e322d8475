//! Adapters out of a FASTA file (Options::loadFastaAdapters and FastaReader of fastp).

use std::collections::BTreeMap;

/// Letters of an adapter, at least; shorter ones are left out.
const LEAST: usize = 6;

/// The adapters in the text of a FASTA file, in capitals, each once, in the order of the names: as fastp searches for
/// them. Of two with one name the last one counts.
///
/// Blank lines say nothing. (fastp takes the line end for a letter there, and finds no such adapter.)
///
/// ```
/// assert_eq!(zerohop_trim::fasta_adapters(b">b\nACGTac\ngt\n>a\nGGGGGG\n>c\nACG\n"), ["GGGGGG", "ACGTACGT"]);
/// ```
pub fn fasta_adapters(text: &[u8]) -> Vec<String> {
    let mut named: BTreeMap<&[u8], String> = BTreeMap::new();
    let mut current = None;
    for line in text.split(|&byte| byte == b'\n') {
        if let Some(name) = line.strip_prefix(b">") {
            current = Some(name);
            named.insert(name, String::new());
        } else if let Some(sequence) = current.and_then(|name| named.get_mut(name)) {
            let letters = line.iter().filter(|letter| letter.is_ascii_alphabetic() || matches!(letter, b'-' | b'*'));
            sequence.extend(letters.map(|letter| char::from(letter.to_ascii_uppercase())));
        }
    }
    let mut adapters: Vec<String> = Vec::new();
    for sequence in named.into_values().filter(|sequence| sequence.len() >= LEAST) {
        if !adapters.contains(&sequence) {
            adapters.push(sequence);
        }
    }
    adapters
}
