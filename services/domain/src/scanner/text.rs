//! A view of a file: a text, and where each part of it stands in the file.

use std::borrow::Cow;
use std::ops::Range;

use super::outline::Outline;
use super::report::View;

/// The characters of a text that are not ASCII, and where they stand. Most texts have few, and the rest is skipped fast.
pub(super) fn beyond_ascii(text: &str) -> impl Iterator<Item = (usize, char)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes[at..].chunks(64).take_while(|chunk| chunk.is_ascii()).map(<[u8]>::len).sum::<usize>();
        at += bytes[at..].iter().position(|byte| !byte.is_ascii())?;
        let c = text[at..].chars().next()?;
        at += c.len_utf8();
        Some((at - c.len_utf8(), c))
    })
}

/// A text that was made from a file.
pub(super) struct Text<'a> {
    pub(super) view: View,
    pub(super) text: Cow<'a, str>,
    pub(super) origin: Origin,
    /// How often it was decoded.
    pub(super) depth: u8,
    /// Whether it is a value by itself, such as a decoded text, or the whole file with all its lines.
    pub(super) is_part: bool,
}

/// Where the bytes of a view stand in the file.
pub(super) enum Origin {
    /// The view is the file.
    Same,
    /// All of it stands there.
    At(Range<usize>),
    /// Runs that were taken over as they are: where each begins in the view and in the file.
    Runs(Vec<(usize, usize)>),
}

impl Text<'_> {
    /// Where bytes of the view stand in the file.
    pub(super) fn span(&self, range: &Range<usize>) -> Range<usize> {
        match &self.origin {
            Origin::Same => range.clone(),
            Origin::At(place) => place.clone(),
            Origin::Runs(runs) => origin_of(runs, range.start)..origin_of(runs, range.end),
        }
    }
}

impl Text<'static> {
    /// The view without the parts in which it says what the file says: there it need not be searched again.
    pub(super) fn where_it_differs(self, file: &str, outline: &Outline) -> Self {
        let Origin::Runs(runs) = &self.origin else { return self };
        let mut built = Builder::default();
        for part in outline.parts() {
            let part = part.start..part.end.min(file.len());
            // The last character may be longer or shorter in the view.
            let end = if part.end == file.len() { self.text.len() } else { place_in(runs, part.end) };
            let here = place_in(runs, part.start).min(end)..end;
            if self.text[here.clone()] == file[part] {
                continue;
            }
            let first = runs.partition_point(|(view, _)| *view <= here.start).saturating_sub(1);
            for (number, (view, from)) in
                runs.iter().enumerate().skip(first).take_while(|(_, (view, _))| *view < here.end)
            {
                let end = runs.get(number + 1).map_or(self.text.len(), |next| next.0).min(here.end);
                let start = here.start.max(*view);
                built.push(&self.text[start..end], from + (start - view));
            }
        }
        Self { text: Cow::Owned(built.text), origin: Origin::Runs(built.runs), ..self }
    }
}

/// Where a character of the file stands in the view, or else the next one that does.
fn place_in(runs: &[(usize, usize)], at: usize) -> usize {
    let after = runs.partition_point(|(_, file)| *file <= at);
    let next = runs.get(after).map_or(usize::MAX, |run| run.0);
    after.checked_sub(1).map_or(0, |before| runs[before].0 + (at - runs[before].1)).min(next)
}

fn origin_of(runs: &[(usize, usize)], at: usize) -> usize {
    let after = runs.partition_point(|(view, _)| *view <= at);
    runs[..after].last().map_or(at, |(view, file)| file + (at - view))
}

/// Builds a view from pieces of the file.
#[derive(Default)]
pub(super) struct Builder {
    text: String,
    runs: Vec<(usize, usize)>,
}

impl Builder {
    /// Adds characters that stand at `at` in the file.
    pub(super) fn push(&mut self, piece: &str, at: usize) {
        if piece.is_empty() {
            return;
        }
        let is_next = self.runs.last().is_some_and(|(view, file)| file + (self.text.len() - view) == at);
        if !is_next {
            self.runs.push((self.text.len(), at));
        }
        self.text.push_str(piece);
    }

    /// The text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The view of a text that stands in `parent`.
    pub(super) fn into_view(self, view: View, parent: &Text<'_>) -> Text<'static> {
        let origin = match &parent.origin {
            Origin::Same => Origin::Runs(self.runs),
            Origin::At(place) => Origin::At(place.clone()),
            Origin::Runs(_) => {
                Origin::Runs(self.runs.iter().map(|(at, from)| (*at, parent.span(&(*from..*from)).start)).collect())
            }
        };
        Text { view, text: Cow::Owned(self.text), origin, depth: parent.depth, is_part: parent.is_part }
    }
}
