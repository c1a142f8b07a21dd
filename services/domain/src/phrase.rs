//! Makes a description shorter without tearing it: by whole sentences, then by whole phrases, and what says when to use
//! the skill goes last.

use std::borrow::Cow;

use crate::sentence::{cut, sentences};

/// How authors begin the sentence that says nothing but that this is a skill, and what is left of it.
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

/// How a sentence begins that says when to use a skill.
const WHEN: [&str; 9] =
    ["use ", "when ", "whenever ", "trigger", "for when ", "invoke ", "apply ", "activate ", "call "];

/// What ends a phrase, the marks first: a text may end before any of these. What follows them in a list or as a relative
/// clause is left away whole.
const MARKS: [&str; 8] = [", ", "; ", ": ", " - ", " – ", " — ", " (", " / "];
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

/// Fewer characters say nothing.
const LEAST_CHARS: usize = 12;

/// A description (a single line) in at most `most` characters, see [`Parted::within`].
pub(crate) fn shorten(description: &str, most: usize) -> String {
    if description.chars().nth(most).is_none() {
        return description.to_owned();
    }
    Parted::of(description).within(most).into_owned()
}

/// A description parted into sentences once, to be tried at many lengths.
pub(crate) struct Parted<'a> {
    whole: &'a str,
    /// Characters of the whole.
    length: usize,
    /// Without boilerplate, with their characters.
    sentences: Vec<(String, usize)>,
}

impl<'a> Parted<'a> {
    pub(crate) fn of(description: &'a str) -> Self {
        let sentences = sentences(description).map(|sentence| {
            let sentence = trim_boilerplate(&sentence);
            let length = sentence.chars().count();
            (sentence, length)
        });
        Self { whole: description, length: description.chars().count(), sentences: sentences.collect() }
    }

    /// The description in at most `most` characters. Where it is longer, it loses its boilerplate, then whole sentences, the
    /// one that says when to use the skill last of all, then phrases.
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
        // Without the first sentence and the one that says when, the others say nothing.
        if !kept.iter().any(|place| *place == 0 || says_when(place)) {
            let Some((telling, _)) = self.sentences.get(when.first().copied().unwrap_or(0)) else { return "".into() };
            return shorten_sentence(telling, |text| text.chars().nth(most).is_none()).into();
        }
        kept.sort_unstable();
        kept.into_iter().map(|place| self.sentences[place].0.as_str()).collect::<Vec<_>>().join(" ").into()
    }
}

/// The longest beginning of a sentence that fits and ends with a phrase. Only what has no phrases is cut at a word, with `…`.
pub(crate) fn shorten_sentence(sentence: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(sentence) {
        return sentence.to_owned();
    }
    let by_mark = longest_phrase(sentence, &MARKS, &fits);
    let by_joint = longest_phrase(sentence, &JOINTS, &fits);
    // A mark ends a phrase more surely than a word does, unless hardly anything stands before it.
    let long_enough = |marked: &&String| by_joint.as_ref().is_none_or(|joint| marked.len() * 5 >= joint.len() * 3);
    by_mark.as_ref().filter(long_enough).or(by_joint.as_ref()).cloned().unwrap_or_else(|| cut_words(sentence, fits))
}

fn longest_phrase(sentence: &str, ends: &[&str], fits: impl Fn(&str) -> bool) -> Option<String> {
    let ends_at = |at: usize| ends.iter().any(|end| sentence[at..].starts_with(end));
    let whole = |at: usize| {
        let phrase = tidy(&sentence[..at]);
        // The longest ones, most of which do not fit, are looked at first.
        (fits(phrase) && phrase.chars().nth(LEAST_CHARS - 1).is_some() && is_closed(phrase)).then(|| phrase.to_owned())
    };
    // All of them begin with one of these.
    let places = sentence.rmatch_indices([' ', ',', ';', ':']).map(|(at, _)| at);
    places.filter(|at| ends_at(*at)).find_map(whole)
}

/// Whether no bracket or quotation stays open.
fn is_closed(phrase: &str) -> bool {
    let count = |mark: char| phrase.matches(mark).count();
    count('(') == count(')') && count('[') == count(']') && count('"').is_multiple_of(2)
}

/// Without what joins it to the rest.
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
