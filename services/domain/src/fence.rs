//! Fenced blocks of markdown, read line by line.

/// What a line is to fenced blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FenceLine {
    /// It stands outside of them.
    Outside,
    /// It opens or closes one.
    Mark,
    /// It is code in one.
    Code,
}

/// Whether a fenced block is open, from one line to the next. A block that is never closed goes on to the end.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// The character of the marks that opened it, and how many there were: as many and more close it.
    open: Option<(char, usize)>,
}

impl Fence {
    /// Returns whether a block is open behind the last line.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Reads the next line.
    pub(crate) fn read(&mut self, line: &str) -> FenceLine {
        let line = line.trim();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let length = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
        match self.open {
            Some((open, least)) => {
                if mark == Some(open) && length >= least && line.chars().all(|c| c == open) {
                    self.open = None;
                    return FenceLine::Mark;
                }
                FenceLine::Code
            }
            // A line such as ```code``` is inline code.
            None if length >= 3 && !(mark == Some('`') && line[length..].contains('`')) => {
                self.open = mark.map(|mark| (mark, length));
                FenceLine::Mark
            }
            None => FenceLine::Outside,
        }
    }
}

#[cfg(test)]
mod tests;
