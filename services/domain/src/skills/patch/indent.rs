//! Adapts the indentation of a replacement to the file.

/// Returns the blanks at the start of a line.
pub(super) fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Pairs of indentations: of a line in the searched text, and of its line in the file.
pub(super) struct Indents {
    pairs: Vec<(String, String)>,
}

impl Indents {
    /// Collects the pairs of indentations: first in the searched text, then in the file.
    pub(super) fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut known: Vec<(String, String)> = Vec::new();
        for (old, file) in pairs {
            if !known.iter().any(|(seen, _)| seen == old) {
                known.push((old.to_owned(), file.to_owned()));
            }
        }
        // The deepest indentations come first, so that the first matching prefix is the longest.
        known.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
        Self { pairs: known }
    }

    /// Adapts the indentation of a replacement line. Blank lines stay unchanged.
    pub(super) fn apply(&self, line: &str) -> String {
        let indent = indent_of(line);
        let rest = &line[indent.len()..];
        if rest.is_empty() { line.to_owned() } else { self.map(indent) + rest }
    }

    fn map(&self, indent: &str) -> String {
        if let Some((old, file)) = self.pairs.iter().find(|(old, _)| indent.starts_with(old.as_str())) {
            return format!("{file}{}", self.in_style(&indent[old.len()..]));
        }
        let Some((old, file)) = self.pairs.last() else { return indent.to_owned() };
        if !old.starts_with(indent) {
            return file.clone();
        }
        // The line is shallower than every searched line, so the file's indentation is reduced by the difference.
        let less = old.len() - indent.len();
        let less = if file.contains('\t') && old.contains(' ') { less.div_ceil(self.unit()) } else { less };
        let less = if !file.contains('\t') && old.contains('\t') { less * self.unit() } else { less };
        file[..file.len().saturating_sub(less)].to_owned()
    }

    /// Converts additional depth to tabs or blanks, whichever the file uses.
    fn in_style(&self, extra: &str) -> String {
        let tabs = self.pairs.iter().any(|(_, file)| file.contains('\t'));
        let blanks = self.pairs.iter().any(|(_, file)| file.contains(' '));
        if tabs && !extra.contains('\t') {
            let guess = if extra.len().is_multiple_of(4) { 4 } else { 2 };
            let unit = self.known_unit().unwrap_or(guess);
            "\t".repeat(extra.len() / unit) + &" ".repeat(extra.len() % unit)
        } else if blanks && !tabs {
            extra.replace('\t', &" ".repeat(self.unit()))
        } else {
            extra.to_owned()
        }
    }

    fn unit(&self) -> usize {
        self.known_unit().unwrap_or(4)
    }

    /// Infers the number of blanks per tab from the differences between the pairs, or else from their widths.
    fn known_unit(&self) -> Option<usize> {
        let count = |text: &str, c: char| text.chars().filter(|&found| found == c).count();
        let widths = |(old, file): &(String, String)| {
            (count(old, '\t').max(count(file, '\t')), count(old, ' ').max(count(file, ' ')))
        };
        let (base_tabs, base_blanks) = self.pairs.last().map(widths)?;
        let ratio = |tabs: usize, blanks: usize| (tabs > 0 && blanks > 0).then(|| (blanks / tabs).max(1));
        let growth = self
            .pairs
            .iter()
            .map(widths)
            .filter_map(|(tabs, blanks)| ratio(tabs.saturating_sub(base_tabs), blanks.saturating_sub(base_blanks)));
        growth.min().or_else(|| ratio(base_tabs, base_blanks))
    }
}
