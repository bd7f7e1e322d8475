//! Rust source as a row of words and signs: enough to see what a file imports, without a full parser.

/// One token that matters for imports; comments, literals and lifetimes are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// An identifier or keyword.
    Word(String),
    /// `::`
    Path,
    /// Any other character that is not white space.
    Sign(char),
}

impl Token {
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(own) if own == word)
    }
}

/// Splits `source`; says the line of each token, too, from 1. Text that is not Rust gives some tokens or other, never
/// an error.
pub fn with_lines(source: &str) -> (Vec<Token>, Vec<usize>) {
    let characters: Vec<char> = source.chars().collect();
    let mut scanner = Scanner { characters: &characters, at: 0, tokens: Vec::new() };
    let (mut lines, mut line, mut counted) = (Vec::new(), 1, 0);
    while scanner.at < characters.len() {
        line += characters[counted..scanner.at].iter().filter(|&&character| character == '\n').count();
        counted = scanner.at;
        scanner.step();
        lines.resize(scanner.tokens.len(), line);
    }
    (scanner.tokens, lines)
}

/// Length of the bracketed group that `tokens` begins with.
pub fn group_length(tokens: &[Token]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        depth += nesting(token);
        if depth <= 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// What a token adds to the depth of brackets.
pub fn nesting(token: &Token) -> i32 {
    match token {
        Token::Sign('(' | '[' | '{') => 1,
        Token::Sign(')' | ']' | '}') => -1,
        _ => 0,
    }
}

struct Scanner<'s> {
    characters: &'s [char],
    at: usize,
    tokens: Vec<Token>,
}

impl Scanner<'_> {
    fn step(&mut self) {
        let (Some(first), second) = (self.peek(0), self.peek(1)) else { return };
        match (first, second) {
            ('/', Some('/')) => self.skip_until_line_end(),
            ('/', Some('*')) => self.skip_block_comment(),
            ('"', _) => self.skip_string(),
            ('\'', _) => self.skip_quote(),
            (':', Some(':')) => self.push(Token::Path, 2),
            _ if first.is_whitespace() => self.at += 1,
            _ if is_word_character(first) => self.word(),
            _ => self.push(Token::Sign(first), 1),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn push(&mut self, token: Token, length: usize) {
        self.tokens.push(token);
        self.at += length;
    }

    fn skip_until_line_end(&mut self) {
        while self.peek(0).is_some_and(|character| character != '\n') {
            self.at += 1;
        }
    }

    fn skip_block_comment(&mut self) {
        let mut depth = 0;
        while let Some(first) = self.peek(0) {
            let step = match (first, self.peek(1)) {
                ('/', Some('*')) => 1,
                ('*', Some('/')) => -1,
                _ => 0,
            };
            depth += step;
            self.at += if step == 0 { 1 } else { 2 };
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(character) = self.peek(0) {
            self.at += if character == '\\' { 2 } else { 1 };
            if character == '"' {
                return;
            }
        }
    }

    /// A character literal, or the quote of a lifetime, whose name then follows as a word that nobody looks for.
    fn skip_quote(&mut self) {
        if self.peek(1) == Some('\\') {
            self.at += 3;
            while self.peek(0).is_some_and(|character| character != '\'') {
                self.at += 1;
            }
            self.at += 1;
        } else if self.peek(2) == Some('\'') {
            self.at += 3;
        } else {
            self.at += 1;
            while self.peek(0).is_some_and(is_word_character) {
                self.at += 1;
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(is_word_character) {
            self.at += 1;
        }
        let word: String = self.characters[start..self.at].iter().collect();
        match (word.as_str(), self.peek(0)) {
            ("r" | "br" | "cr", Some('"' | '#')) => self.skip_raw(),
            ("b" | "c", Some('"')) => self.skip_string(),
            ("b", Some('\'')) => self.skip_quote(),
            _ => self.tokens.push(Token::Word(word)),
        }
    }

    /// A raw string; or `r#name`, whose name then follows as a word.
    fn skip_raw(&mut self) {
        let hashes = self.characters[self.at..].iter().take_while(|&&character| character == '#').count();
        self.at += hashes;
        if self.peek(0) != Some('"') {
            return;
        }
        self.at += 1;
        while let Some(character) = self.peek(0) {
            self.at += 1;
            let closing = self.characters[self.at..].iter().take(hashes).filter(|&&follows| follows == '#').count();
            if character == '"' && closing == hashes {
                self.at += hashes;
                return;
            }
        }
    }
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> String {
        let text = |token: &Token| match token {
            Token::Word(word) => word.clone(),
            Token::Path => "::".into(),
            Token::Sign(sign) => sign.to_string(),
        };
        with_lines(source).0.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn keeps_words_and_signs() {
        assert_eq!(words("use crate::a::{b, c};"), "use crate :: a :: { b , c } ;");
    }

    #[test]
    fn leaves_comments_and_literals_out() {
        assert_eq!(words("a // crate::x\n/* /* crate::y */ */ \"crate::\\\"z\" b"), "a b");
        assert_eq!(words("r#\"crate::\"x\"# b\"crate::y\" b'x' 'c' '\\'' '\\u{1F600}' z"), "z");
    }

    #[test]
    fn tells_lifetimes_from_characters() {
        assert_eq!(words("fn f<'a>(x: &'a str) { '{' }"), "fn f < > ( x : & str ) { }");
    }

    #[test]
    fn lines_are_counted() {
        let (tokens, lines) = with_lines("a b\n/* c\nd */ e\n\"f\ng\" h");
        assert_eq!((tokens.len(), lines), (4, vec![1, 1, 3, 5]));
    }

    #[test]
    fn an_unfinished_literal_ends_with_the_text() {
        assert_eq!(words("a \"never closed"), "a");
        assert_eq!(words("a r#\"never closed"), "a");
        assert_eq!(words("a /* never closed"), "a");
        assert_eq!(words("a '\\"), "a");
    }
}
