//! The grouping against fgbio's own way (umi/GroupReadsByUmi.scala), which compares each UMI with all others, as text.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::collections::HashMap;
use zerohop_umi::{Assignment, Grouper, Rules, Strand, Strategy as Grouping, TemplateUmi, UmiError};

const STRATEGIES: [Grouping; 4] = [Grouping::Exact, Grouping::Edit, Grouping::Adjacency, Grouping::Paired];

/// A UMI, and whether the first read lies lower.
type Template = (String, bool);

/// The place of the molecule in some order, and whether the strand is B.
type Found = (usize, bool);

fn distance(a: &str, b: &str) -> usize {
    assert_eq!(a.len(), b.len());
    a.bytes().zip(b.bytes()).filter(|(a, b)| a != b).count()
}

fn turned(umi: &str) -> String {
    let (a, b) = umi.split_once('-').unwrap();
    format!("{b}-{a}")
}

fn edit(umis: &[String], edits: usize) -> Vec<Found> {
    let mut sets: Vec<Vec<&String>> = Vec::new();
    for umi in umis {
        let (near, mut others): (Vec<_>, Vec<_>) =
            sets.into_iter().partition(|set| set.iter().any(|other| distance(other, umi) <= edits));
        others.push(near.into_iter().flatten().chain([umi]).collect());
        sets = others;
    }
    umis.iter().map(|umi| (sets.iter().position(|set| set.contains(&umi)).unwrap(), false)).collect()
}

/// For each UMI, that with which its molecule begins.
fn roots(umis: &[String], is_near: impl Fn(&str, &str) -> bool) -> HashMap<&str, &str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    umis.iter().for_each(|umi| *counts.entry(umi).or_default() += 1);
    let mut nodes: Vec<(&str, usize)> = counts.into_iter().collect();
    nodes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut roots: HashMap<&str, &str> = HashMap::new();
    for &(root, count) in &nodes {
        if roots.contains_key(root) {
            continue;
        }
        roots.insert(root, root);
        let mut queue = std::collections::VecDeque::from([(root, count)]);
        while let Some((parent, count)) = queue.pop_front() {
            for &(child, children) in &nodes {
                if !roots.contains_key(child) && children <= count / 2 + 1 && is_near(parent, child) {
                    roots.insert(child, root);
                    queue.push_back((child, children));
                }
            }
        }
    }
    roots
}

fn adjacency(umis: &[String], edits: usize) -> Vec<Found> {
    let roots = roots(umis, |a, b| distance(a, b) <= edits);
    umis.iter().map(|umi| (umis.iter().position(|other| other == roots[&**umi]).unwrap(), false)).collect()
}

fn paired(templates: &[Template], edits: usize) -> Vec<Found> {
    let [low, high] = ["a", "b"].map(|letter| letter.repeat(edits + 1) + "::");
    let marked = |(umi, first_is_lower): &Template| {
        let (a, b) = umi.split_once('-').unwrap();
        if *first_is_lower { format!("{low}{a}-{high}{b}") } else { format!("{high}{a}-{low}{b}") }
    };
    let umis: Vec<String> = templates.iter().map(marked).collect();
    let counted: Vec<String> = umis.iter().map(|umi| umi.clone().min(turned(umi))).collect();
    let roots = roots(&counted, |a, b| distance(a, b) <= edits || distance(&turned(a), b) <= edits);
    let mut strands: HashMap<String, bool> = HashMap::new();
    for (umi, root) in &roots {
        // fgbio's countMismatches, which knows no small letters.
        let apart = |umi: &str| distance(&root.to_uppercase(), &umi.to_uppercase());
        let is_b = umi != root && apart(umi) >= apart(&turned(umi));
        strands.insert(turned(umi), !is_b);
        strands.insert((*umi).to_owned(), is_b);
    }
    let place = |umi: &String| counted.iter().position(|other| other == roots[&**umi]).unwrap();
    counted.iter().zip(&umis).map(|(counted, umi)| (place(counted), strands[umi])).collect()
}

/// None if fgbio stops.
fn naive(templates: &[Template], strategy: Grouping, edits: usize) -> Option<Vec<Found>> {
    let umis: Vec<String> = templates.iter().map(|(umi, _)| umi.to_uppercase()).collect();
    let templates: Vec<Template> = umis.iter().cloned().zip(templates.iter().map(|template| template.1)).collect();
    let is_paired = |umi: &String| umi.split('-').count() == 2;
    let stops = umis.iter().any(String::is_empty)
        || strategy == Grouping::Paired && !umis.iter().all(is_paired)
        || strategy != Grouping::Exact && umis.iter().any(|umi| umi.len() != umis[0].len());
    (!stops).then(|| match strategy {
        Grouping::Exact => {
            umis.iter().map(|umi| (umis.iter().position(|other| other == umi).unwrap(), false)).collect()
        }
        Grouping::Edit => edit(&umis, edits),
        Grouping::Adjacency => adjacency(&umis, edits),
        Grouping::Paired => paired(&templates, edits),
    })
}

/// With the molecules numbered in the order of their first templates.
fn numbered(found: &[Found], strategy: Grouping) -> Vec<Assignment> {
    let mut numbers: HashMap<usize, u32> = HashMap::new();
    let assignment = |(molecule, is_b): &Found| {
        let next = numbers.len() as u32;
        let strand = (strategy == Grouping::Paired).then_some(if *is_b { Strand::B } else { Strand::A });
        Assignment { molecule: *numbers.entry(*molecule).or_insert(next), strand }
    };
    found.iter().map(assignment).collect()
}

fn grouped(templates: &[Template], grouper: &mut Grouper) -> Result<Vec<Assignment>, UmiError> {
    let umis = templates.iter().map(|(umi, lower)| TemplateUmi { umi: umi.as_bytes(), first_is_lower: *lower });
    let umis: Vec<TemplateUmi<'_>> = umis.collect();
    grouper.group(&umis).map(<[_]>::to_vec)
}

fn rules(strategy: Grouping, edits: u8) -> Rules {
    Rules::new(strategy, (strategy != Grouping::Exact).then_some(edits)).unwrap()
}

fn check(templates: &[Template], strategy: Grouping, edits: u8) -> Result<(), TestCaseError> {
    let mut grouper = Grouper::new(rules(strategy, edits));
    let wanted = naive(templates, strategy, usize::from(edits)).map(|found| numbered(&found, strategy));
    // Twice, since it keeps its memory.
    for _ in 0..2 {
        prop_assert_eq!(grouped(templates, &mut grouper).ok(), wanted.clone(), "{:?} {} edits", strategy, edits);
    }
    Ok(())
}

/// Templates of few molecules, many per UMI, with errors: so counts differ, and are equal.
fn families(pattern: &'static str, templates: usize) -> impl Strategy<Value = Vec<Template>> {
    let molecules = prop::collection::vec(pattern, 1..8);
    let template =
        (any::<prop::sample::Index>(), any::<bool>(), prop::collection::vec(any::<prop::sample::Index>(), 0..3));
    (molecules, prop::collection::vec(template, 1..templates)).prop_map(|(molecules, templates)| {
        let template = |(molecule, strand, errors): (prop::sample::Index, bool, Vec<prop::sample::Index>)| {
            let mut umi = molecule.get(&molecules).clone().into_bytes();
            for error in errors {
                let at = error.index(umi.len());
                if umi[at] != b'-' {
                    umi[at] = b"ACGTNacgt"[error.index(9)];
                }
            }
            (String::from_utf8(umi).unwrap(), strand)
        };
        templates.into_iter().map(template).collect()
    })
}

fn any_templates(pattern: &'static str, templates: usize) -> impl Strategy<Value = Vec<Template>> {
    prop::collection::vec((pattern, any::<bool>()), 0..templates)
}

proptest! {
    #[test]
    fn families_are_fgbio_s(templates in families("[ACGT]{3}-[ACGT]{3}", 60), edits in 0u8..=2) {
        STRATEGIES.iter().try_for_each(|strategy| check(&templates, *strategy, edits))?;
    }

    #[test]
    fn dense_umis_are_fgbio_s(templates in any_templates("[ACG]{2}-[AC]{2}", 60), edits in 0u8..=5) {
        STRATEGIES.iter().try_for_each(|strategy| check(&templates, *strategy, edits))?;
    }

    /// Halves may differ in length, and one may be missing. With 4 edits and more, marks and letters can match.
    #[test]
    fn uneven_halves_are_fgbio_s(templates in any_templates("[ABb]{0,2}-[ABb]{0,2}", 12), edits in 0u8..=6) {
        let of_one_length: Vec<Template> = templates.iter().filter(|(umi, _)| umi.len() == 3).cloned().collect();
        for strategy in STRATEGIES {
            check(&templates, strategy, edits)?;
            check(&of_one_length, strategy, edits)?;
        }
    }

    #[test]
    fn umis_of_several_lengths_are_compared_as_far_as_the_shortest_goes(
        templates in any_templates("[ACGTacgt]{2}-?[ACGT]{0,3}", 40),
        edits in 0u8..=2,
        least in 1u8..=2,
    ) {
        // fgumi parts UMIs by their first bases where they must be equal.
        let bases = |umi: &str| umi.replace('-', "").to_uppercase();
        let all: Vec<String> = templates.iter().map(|(umi, _)| bases(umi)).collect();
        for strategy in [Grouping::Exact, Grouping::Edit, Grouping::Adjacency] {
            let rules = rules(strategy, edits);
            let begin = |umi: &str| if rules.edits() == 0 { umi[..least.into()].to_owned() } else { String::new() };
            let short = |umi: &String| {
                let like = all.iter().filter(|other| begin(other) == begin(umi));
                umi[..like.map(String::len).min().unwrap()].to_owned()
            };
            let shortened: Vec<Template> =
                all.iter().zip(&templates).map(|(umi, (_, lower))| (short(umi), *lower)).collect();
            // Where UMIs must be equal, those of several lengths are.
            let edits = usize::from(rules.edits());
            let strategy = if edits == 0 { Grouping::Exact } else { strategy };
            let wanted = naive(&shortened, strategy, edits).map(|found| numbered(&found, strategy));
            let mut grouper = Grouper::new(rules.with_least_bases(least).unwrap());
            prop_assert_eq!(grouped(&templates, &mut grouper).ok(), wanted, "{:?} {} edits", strategy, edits);
        }
    }

    #[test]
    fn any_text_is_grouped_or_refused(templates in any_templates("[ACn-]{0,4}|\\PC{0,3}", 6), edits in 0u8..=2) {
        for strategy in STRATEGIES {
            let found = grouped(&templates, &mut Grouper::new(rules(strategy, edits)));
            let ascii = templates.iter().all(|(umi, _)| umi.is_ascii());
            if ascii {
                prop_assert_eq!(found.is_ok(), naive(&templates, strategy, usize::from(edits)).is_some());
            }
        }
    }

    /// Molecules have the same templates in whatever order these come.
    #[test]
    fn order_does_not_matter(
        (templates, shuffled) in families("[ACG]{2}-[ACG]{2}", 200).prop_flat_map(|templates| {
            let numbers: Vec<usize> = (0..templates.len()).collect();
            (Just(templates), Just(numbers).prop_shuffle())
        }),
        edits in 0u8..=2,
    ) {
        for strategy in STRATEGIES {
            let mut grouper = Grouper::new(rules(strategy, edits));
            let straight = grouped(&templates, &mut grouper).unwrap();
            let other: Vec<Template> = shuffled.iter().map(|number| templates[*number].clone()).collect();
            let other = grouped(&other, &mut grouper).unwrap();
            let mut pairs = HashMap::new();
            for (at, number) in shuffled.iter().enumerate() {
                let (before, after) = (straight[*number], other[at]);
                prop_assert_eq!(before.strand, after.strand);
                prop_assert_eq!(*pairs.entry(before.molecule).or_insert(after.molecule), after.molecule);
            }
            let distinct: std::collections::HashSet<u32> = pairs.values().copied().collect();
            prop_assert_eq!(distinct.len(), pairs.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// So many that variants are looked up.
    #[test]
    fn many_umis_are_fgbio_s(templates in any_templates("[ACGTN]{4}-[AC]", 700), edits in 1u8..=2) {
        STRATEGIES.iter().try_for_each(|strategy| check(&templates, *strategy, edits))?;
    }
}

#[test]
fn errors_name_the_template() {
    let group = |strategy, umis: &[&str]| {
        let templates: Vec<Template> = umis.iter().map(|umi| ((*umi).to_owned(), true)).collect();
        grouped(&templates, &mut Grouper::new(rules(strategy, 1))).unwrap_err()
    };
    let error = group(Grouping::Adjacency, &["ACGT", "ACGT", "ACG"]);
    assert_eq!(error.template(), 2);
    assert_eq!(
        error.to_string(),
        "UMIs ACG and ACGT of one place differ in length; with the strategies edit, adjacency and paired all need one \
         length"
    );
    let error = group(Grouping::Paired, &["AC-GT", "ACGT"]);
    assert_eq!(error, UmiError::NotPaired { template: 1, umi: "ACGT".into() });
    assert!(matches!(group(Grouping::Paired, &["A-C-G"]), UmiError::NotPaired { template: 0, .. }));
    assert_eq!(group(Grouping::Exact, &["A", ""]), UmiError::Missing { template: 1 });
}

/// fgbio's own examples (GroupReadsByUmiTest.scala, "AdjacencyUmiAssigner").
#[test]
fn ties_and_chains() {
    let molecules = |umis: &[(&str, usize)]| {
        let templates = umis.iter().flat_map(|(umi, count)| vec![((*umi).to_owned(), true); *count]);
        let templates: Vec<Template> = templates.collect();
        let found = grouped(&templates, &mut Grouper::new(rules(Grouping::Adjacency, 1))).unwrap();
        let mut at = 0;
        let firsts = umis.iter().map(|(_, count)| {
            at += count;
            found[at - count].molecule
        });
        firsts.collect::<Vec<_>>()
    };
    // Two and two are one molecule, three and three are not.
    assert_eq!(molecules(&[("AAAA", 2), ("AAAC", 2)]), [0, 0]);
    assert_eq!(molecules(&[("AAAA", 3), ("AAAC", 3)]), [0, 1]);
    // Down a chain of falling counts, and not up again.
    assert_eq!(molecules(&[("AAAA", 9), ("AAAC", 5), ("AACC", 3), ("ACCC", 2)]), [0, 0, 0, 0]);
    assert_eq!(molecules(&[("AAAA", 9), ("AAAC", 2), ("AACC", 3)]), [0, 0, 1]);
    // What two could have belongs to that with more templates, then to that whose letters come first.
    assert_eq!(molecules(&[("AAAC", 8), ("AAAG", 9), ("AAAT", 2)]), [0, 1, 1]);
    assert_eq!(molecules(&[("CAAA", 8), ("AAAA", 8), ("GAAA", 2)]), [0, 1, 1]);
}
