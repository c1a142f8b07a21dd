//! Shortens descriptions by whole sentences, then by whole phrases. The sentence about when to use the skill is dropped
//! last.

use std::borrow::Cow;

use crate::text::sentence::{cut, sentences};

/// Boilerplate at the start of descriptions, and its replacement.
const BOILERPLATE: [(&str, &str); 24] = [
    ("this skill should be used when ", "Use when "),
    ("this skill should be used whenever ", "Use when "),
    ("this skill should be used to ", "Use to "),
    ("this skill should be used for ", "Use for "),
    ("use this skill whenever ", "Use when "),
    ("use this skill when ", "Use when "),
    ("use this skill if ", "Use if "),
    ("use this skill to ", "Use to "),
    ("use this skill for ", "Use for "),
    ("use skill when ", "Use when "),
    ("use skill if ", "Use if "),
    ("use this when ", "Use when "),
    ("invoke this skill when ", "Use when "),
    ("activate this skill when ", "Use when "),
    ("activate when ", "Use when "),
    ("this skill helps you to ", ""),
    ("this skill helps you ", ""),
    ("this skill helps to ", ""),
    ("this skill provides ", ""),
    ("this skill ", ""),
    ("a skill that ", ""),
    ("a skill for ", ""),
    ("comprehensive toolkit for ", "For "),
    ("comprehensive guide to ", ""),
];

/// Beginnings of sentences about when to use a skill.
const WHEN: [&str; 9] =
    ["use ", "when ", "whenever ", "trigger", "for when ", "invoke ", "apply ", "activate ", "call "];

/// Punctuation after a phrase. A text may be cut before any of these.
const MARKS: [&str; 8] = [", ", "; ", ": ", " - ", " – ", " — ", " (", " / "];
/// Words before which a text may be cut.
const JOINTS: [&str; 16] = [
    " and ",
    " or ",
    " for ",
    " with ",
    " when ",
    " using ",
    " in ",
    " from ",
    " via ",
    " through ",
    " by ",
    " including ",
    " so ",
    " that ",
    " which ",
    " on ",
];

/// Minimum number of characters in a useful phrase.
const LEAST_CHARS: usize = 12;

/// Shortens a description (a single line) to at most `most` characters, see [`SplitDescription::within`].
pub(crate) fn shorten(description: &str, most: usize) -> String {
    if description.chars().nth(most).is_none() {
        return description.to_owned();
    }
    SplitDescription::of(description).within(most).into_owned()
}

/// A description, split into sentences once so that it can be shortened to many lengths.
pub(crate) struct SplitDescription<'a> {
    whole: &'a str,
    /// Number of characters in `whole`.
    length: usize,
    /// Sentences without boilerplate, with their lengths in characters.
    sentences: Vec<(String, usize)>,
}

impl<'a> SplitDescription<'a> {
    pub(crate) fn of(description: &'a str) -> Self {
        let sentences = sentences(description).map(|sentence| {
            let sentence = trim_boilerplate(&sentence);
            let length = sentence.chars().count();
            (sentence, length)
        });
        Self { whole: description, length: description.chars().count(), sentences: sentences.collect() }
    }

    /// Returns the description in at most `most` characters. A longer description loses its boilerplate first, then
    /// whole sentences, then phrases. The sentence about when to use the skill is dropped last.
    pub(crate) fn within(&self, most: usize) -> Cow<'_, str> {
        if self.length <= most {
            return Cow::Borrowed(self.whole);
        }
        let says_when = |place: &usize| says_when(&self.sentences[*place].0);
        let (when, others): (Vec<usize>, Vec<usize>) = (0..self.sentences.len()).partition(says_when);
        let mut kept = Vec::new();
        let mut room = most;
        for place in when.iter().chain(&others) {
            let length = self.sentences[*place].1 + usize::from(!kept.is_empty());
            if length <= room {
                kept.push(*place);
                room -= length;
            }
        }
        // The other sentences make no sense without the first one or the one about when to use the skill.
        if !kept.iter().any(|place| *place == 0 || says_when(place)) {
            let Some((telling, _)) = self.sentences.get(when.first().copied().unwrap_or(0)) else { return "".into() };
            return shorten_sentence(telling, |text| text.chars().nth(most).is_none()).into();
        }
        kept.sort_unstable();
        kept.into_iter().map(|place| self.sentences[place].0.as_str()).collect::<Vec<_>>().join(" ").into()
    }
}

/// Returns the longest beginning of a sentence that fits and ends with a phrase. A sentence without phrases is cut at a
/// word, with `…`.
pub(crate) fn shorten_sentence(sentence: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(sentence) {
        return sentence.to_owned();
    }
    let by_mark = longest_phrase(sentence, &MARKS, &fits);
    let by_joint = longest_phrase(sentence, &JOINTS, &fits);
    // An end at punctuation is better than an end at a word, unless it leaves a much shorter text.
    let long_enough = |marked: &&String| by_joint.as_ref().is_none_or(|joint| marked.len() * 5 >= joint.len() * 3);
    by_mark.as_ref().filter(long_enough).or(by_joint.as_ref()).cloned().unwrap_or_else(|| cut_words(sentence, fits))
}

fn longest_phrase(sentence: &str, ends: &[&str], fits: impl Fn(&str) -> bool) -> Option<String> {
    let ends_at = |at: usize| ends.iter().any(|end| sentence[at..].starts_with(end));
    let whole = |at: usize| {
        let phrase = tidy(&sentence[..at]);
        // The cheap check comes first, because phrases are tried from the longest one down, and most do not fit.
        (fits(phrase) && phrase.chars().nth(LEAST_CHARS - 1).is_some() && is_closed(phrase)).then(|| phrase.to_owned())
    };
    // All ends begin with one of these characters.
    let places = sentence.rmatch_indices([' ', ',', ';', ':']).map(|(at, _)| at);
    places.filter(|at| ends_at(*at)).find_map(whole)
}

/// Checks whether all brackets and quotations are closed.
fn is_closed(phrase: &str) -> bool {
    let count = |mark: char| phrase.matches(mark).count();
    count('(') == count(')') && count('[') == count(']') && count('"').is_multiple_of(2)
}

/// Removes trailing conjunctions, articles and punctuation.
fn tidy(phrase: &str) -> &str {
    let mut phrase = phrase.trim_end();
    while let Some(rest) =
        [" and", " or", " the", " a", " an", " to", " of", ",", ";", ":", " -", " –", " —", " e.g.", " ("]
            .iter()
            .find_map(|end| phrase.strip_suffix(end))
    {
        phrase = rest.trim_end();
    }
    phrase
}

fn cut_words(sentence: &str, fits: impl Fn(&str) -> bool) -> String {
    let (mut fitting, mut too_long) = (0, sentence.chars().count() + 1);
    while too_long > fitting + 1 {
        let middle = fitting.midpoint(too_long);
        if fits(&cut(sentence, middle)) { fitting = middle } else { too_long = middle }
    }
    cut(sentence, fitting)
}

pub(crate) fn trim_boilerplate(sentence: &str) -> String {
    let starts = |start: &str| sentence.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let Some((start, instead)) = BOILERPLATE.iter().find(|(start, _)| starts(start)) else {
        return sentence.to_owned();
    };
    let rest = &sentence[start.len()..];
    if !instead.is_empty() {
        return format!("{instead}{rest}");
    }
    let mut letters = rest.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn says_when(sentence: &str) -> bool {
    WHEN.iter().any(|start| sentence.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start)))
}

#[cfg(test)]
mod tests;
