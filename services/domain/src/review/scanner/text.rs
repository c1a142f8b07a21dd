//! A view of a file: a text with the position of each part in the file.

use std::borrow::Cow;
use std::ops::Range;

use super::outline::Outline;
use super::report::View;

/// Returns the non-ASCII characters of a text with their positions. ASCII is skipped in chunks, because most texts have
/// few other characters.
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

/// A text derived from a file.
pub(super) struct Text<'a> {
    pub(super) view: View,
    pub(super) text: Cow<'a, str>,
    pub(super) origin: ViewOrigin,
    /// Number of decoding steps that gave the text; 0 for the original text.
    pub(super) depth: u8,
    /// Whether the text is a separate value, such as a decoded text. All lines of such a text are joined.
    pub(super) is_part: bool,
}

/// Positions in the file of a view's bytes.
pub(super) enum ViewOrigin {
    /// The view is the file.
    Same,
    /// The whole view comes from this range.
    At(Range<usize>),
    /// Unchanged runs: the start of each run in the view and in the file.
    Runs(Vec<(usize, usize)>),
}

impl Text<'_> {
    /// Returns the range of the file that the bytes of the view come from.
    pub(super) fn span(&self, range: &Range<usize>) -> Range<usize> {
        match &self.origin {
            ViewOrigin::Same => range.clone(),
            ViewOrigin::At(place) => place.clone(),
            ViewOrigin::Runs(runs) => origin_of(runs, range.start)..origin_of(runs, range.end),
        }
    }
}

impl Text<'static> {
    /// Removes the parts that are identical to the file, because those were already searched.
    pub(super) fn where_it_differs(self, file: &str, outline: &Outline) -> Self {
        let ViewOrigin::Runs(runs) = &self.origin else { return self };
        let mut built = ViewBuilder::default();
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
        Self { text: Cow::Owned(built.text), origin: ViewOrigin::Runs(built.runs), ..self }
    }
}

/// Returns a character's position in the view, given its position in the file. If the view lacks the character, returns
/// the position of the next one.
fn place_in(runs: &[(usize, usize)], at: usize) -> usize {
    let after = runs.partition_point(|(_, file)| *file <= at);
    let next = runs.get(after).map_or(usize::MAX, |run| run.0);
    after.checked_sub(1).map_or(0, |before| runs[before].0 + (at - runs[before].1)).min(next)
}

fn origin_of(runs: &[(usize, usize)], at: usize) -> usize {
    let after = runs.partition_point(|(view, _)| *view <= at);
    runs[..after].last().map_or(at, |(view, file)| file + (at - view))
}

/// Builds a view from pieces of the file or of another view.
#[derive(Default)]
pub(super) struct ViewBuilder {
    text: String,
    runs: Vec<(usize, usize)>,
}

impl ViewBuilder {
    /// Adds a piece that comes from position `at` of the source.
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

    /// Returns the text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Makes a view from the pieces, which come from `parent`.
    pub(super) fn into_view(self, view: View, parent: &Text<'_>) -> Text<'static> {
        let origin = match &parent.origin {
            ViewOrigin::Same => ViewOrigin::Runs(self.runs),
            ViewOrigin::At(place) => ViewOrigin::At(place.clone()),
            ViewOrigin::Runs(_) => {
                ViewOrigin::Runs(self.runs.iter().map(|(at, from)| (*at, parent.span(&(*from..*from)).start)).collect())
            }
        };
        Text { view, text: Cow::Owned(self.text), origin, depth: parent.depth, is_part: parent.is_part }
    }
}
