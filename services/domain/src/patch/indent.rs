//! Carries the indentation of a replacement over to the file it goes into.

/// The blanks at the start of a line.
pub(super) fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Which indentation of the searched text stands for which one in the file.
pub(super) struct Indents {
    pairs: Vec<(String, String)>,
}

impl Indents {
    /// Learns from pairs of indentations: as searched, as in the file.
    pub(super) fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut known: Vec<(String, String)> = Vec::new();
        for (old, file) in pairs {
            if !known.iter().any(|(seen, _)| seen == old) {
                known.push((old.to_owned(), file.to_owned()));
            }
        }
        // The deepest first, so that the first prefix found is the longest.
        known.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
        Self { pairs: known }
    }

    /// A line of the replacement as it should stand in the file; blank lines are left as they are.
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
        // Shallower than anything that was searched: take as much away as it is shallower.
        let less = old.len() - indent.len();
        let less = if file.contains('\t') && old.contains(' ') { less.div_ceil(self.unit()) } else { less };
        let less = if !file.contains('\t') && old.contains('\t') { less * self.unit() } else { less };
        file[..file.len().saturating_sub(less)].to_owned()
    }

    /// Extra depth in tabs or blanks, whichever the file uses.
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

    /// How many blanks stand for one tab, as far as the pairs tell: by how they grow, or else by what they are.
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
