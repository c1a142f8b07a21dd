//! Reads fenced blocks of markdown line by line.

/// Role of a line: outside of fenced blocks, an opening or closing mark, or code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FenceLine {
    /// Outside of fenced blocks.
    Outside,
    /// Opens or closes a block.
    Mark,
    /// Code in a block.
    Code,
}

/// The state of fenced blocks between lines. An unclosed block extends to the end.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// Character and number of the opening marks. At least as many close the block. `None` outside of blocks.
    open: Option<(char, usize)>,
}

impl Fence {
    /// Returns whether a block is open after the last line.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Reads the next line and returns its role.
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
