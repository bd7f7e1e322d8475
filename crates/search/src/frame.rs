//! What stands between the hits of a batch: the first lines of an output, what a program says of each query, and its
//! last words.
//!
//! It is made of what every rank knows: the queries, the program, and which hits survive. So all ranks make it alike,
//! and whoever writes a batch needs none of it from another. What a program writes around the hits of a part is
//! compared with the frame of that part (crate::written): a program that does otherwise is an error, not another
//! output.

use crate::hit::{Key, lines};

/// What stands between the hits of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// Before the first query.
    pub(crate) opening: Vec<u8>,
    /// By query; none where queries have no words of their own.
    pub(crate) heads: Vec<Head>,
    /// Behind the last.
    pub(crate) closing: Vec<u8>,
}

/// What stands before the hits of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// If there are none.
    pub(crate) none: Vec<u8>,
    /// If there are some.
    pub(crate) some: Vec<u8>,
    /// The number of their lines follows, with these words behind it.
    pub(crate) count: Option<&'static str>,
}

impl Head {
    /// What stands before hits with these keys.
    fn text(&self, keys: &[(u32, Key)]) -> Vec<u8> {
        match (keys, self.count) {
            ([], _) => self.none.clone(),
            (_, None) => self.some.clone(),
            (_, Some(words)) => {
                let count: u64 = keys.iter().map(|(_, key)| u64::from(lines(key))).sum();
                [&self.some, format!("{count}{words}").as_bytes()].concat()
            }
        }
    }
}

impl Frame {
    /// What stands between the hits that survived (query and key of each, in order): pieces of text, in order, each
    /// with the number of the hit that it stands before, or how many hits there are.
    pub fn pieces(&self, survivors: &[(u32, Key)]) -> Vec<(usize, Vec<u8>)> {
        let mut pieces = vec![(0, self.opening.clone())];
        let mut at = 0;
        for (query, head) in (0..).zip(&self.heads) {
            let rest = survivors.get(at..).unwrap_or_default();
            let of_query = rest.iter().take_while(|(other, _)| *other == query).count();
            pieces.push((at, head.text(&rest[..of_query])));
            at += of_query;
        }
        pieces.push((survivors.len(), self.closing.clone()));
        pieces.retain(|(_, text)| !text.is_empty());
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hit::set_lines;

    #[test]
    fn pieces_stand_before_the_hits_that_survived() {
        let head = |name: &str| Head {
            none: format!("{name}: none\n").into(),
            some: format!("{name}: ").into(),
            count: Some(" lines\n"),
        };
        let heads = ["a", "b", "c"].map(head).into();
        let frame = Frame { opening: b"open\n".into(), heads, closing: b"close\n".into() };
        let hit = |query, number| {
            let mut key = [0; 24];
            set_lines(&mut key, number);
            (query, key)
        };
        let told = |survivors: &[(u32, Key)]| {
            let pieces = frame.pieces(survivors).into_iter();
            pieces.map(|(at, text)| format!("{at} {}", String::from_utf8(text).unwrap())).collect::<String>()
        };
        assert_eq!(told(&[]), "0 open\n0 a: none\n0 b: none\n0 c: none\n0 close\n");
        let some = [hit(0, 1), hit(0, 300), hit(2, 2)];
        assert_eq!(told(&some), "0 open\n0 a: 301 lines\n2 b: none\n2 c: 2 lines\n3 close\n");
        assert!(Frame::default().pieces(&some).is_empty());
    }
}
