//! Forms that change the letters, the blanks or the single words.

use super::{WriteText, each_word, spread};

/// Forms that change the letters, the blanks or the single words of a sentence.
pub const LETTERS: [(&str, WriteText); 48] = [
    ("upper case", |s| s.to_uppercase()),
    ("alternating case", |s| {
        s.chars().enumerate().map(|(n, c)| if n % 2 == 0 { c.to_ascii_uppercase() } else { c }).collect()
    }),
    ("no-break spaces", |s| s.replace(' ', "\u{a0}")),
    ("thin spaces", |s| s.replace(' ', "\u{2009}")),
    ("ideographic spaces", |s| s.replace(' ', "\u{3000}")),
    ("many spaces", |s| s.replace(' ', "   ")),
    ("braille blanks", |s| s.replace(' ', "\u{2800}")),
    ("fillers", |s| s.replace(' ', " \u{3164}")),
    ("escaped spaces", |s| s.replace(' ', "\\ ")),
    ("encoded spaces", |s| s.replace(' ', "%20")),
    ("named blanks", |s| s.replace(' ', "&nbsp;")),
    ("numbered blanks", |s| s.replace(' ', "&#160;")),
    ("hyphens", |s| s.replace(' ', "-")),
    ("underscores", |s| s.replace(' ', "_")),
    ("dots", |s| s.replace(' ', ".")),
    ("plus signs", |s| s.replace(' ', "+")),
    ("zero-width", |s| spread(s, "\u{200b}")),
    ("word joiners", |s| spread(s, "\u{2060}")),
    ("invisible operators", |s| spread(s, "\u{2063}")),
    ("grapheme joiners", |s| spread(s, "\u{34f}")),
    ("vowel separators", |s| spread(s, "\u{180e}")),
    ("tag characters", |s| spread(s, "\u{e0041}")),
    ("direction marks", |s| format!("\u{202a}{}\u{202c}", spread(s, "\u{200e}"))),
    ("soft hyphens", |s| s.replace('e', "e\u{ad}")),
    ("named hyphens", |s| s.replace('e', "e&shy;")),
    ("variation selectors", |s| s.replace('a', "a\u{fe0f}")),
    ("underlined", |s| spread(s, "\u{332}")),
    ("struck through", |s| spread(s, "\u{336}")),
    ("accents", |s| spread(s, "\u{301}\u{316}")),
    ("full width", |s| s.chars().map(full_width).collect()),
    ("mathematical", |s| s.chars().map(|c| from(c, 0x1d400, 0x1d41a)).collect()),
    ("circled", |s| s.chars().map(|c| from(c, 0x24b6, 0x24d0)).collect()),
    ("squared", |s| s.to_uppercase().chars().map(|c| from(c, 0x1f130, 0)).collect()),
    ("white on black", |s| s.to_uppercase().chars().map(|c| from(c, 0x1f170, 0)).collect()),
    ("small capitals", |s| s.chars().map(|c| like(c, "aᴀbʙcᴄdᴅeᴇmᴍnɴoᴏpᴘrʀtᴛvᴠ")).collect()),
    ("Cyrillic letters", |s| s.chars().map(|c| like(c, "aаeеoоpрcсxх")).collect()),
    ("bold words", |s| each_word(s, " ", |_, word| format!("**{word}**"))),
    ("other marks", |s| each_word(s, " ", |n, word| ["{}", "*{}*", "__{}__", "`{}`"][n % 4].replace("{}", word))),
    ("words in quotes", |s| each_word(s, " ", |_, word| format!("\"{word}\""))),
    ("words in brackets", |s| each_word(s, " ", |_, word| format!("[{word}]"))),
    ("spans", |s| each_word(s, " ", |_, word| format!("<span>{word}</span>"))),
    ("breaks", |s| s.replace(' ', "<br>")),
    ("break chances", |s| s.replace('i', "i<wbr>")),
    ("links", |s| each_word(s, " ", |n, word| every_third(n, "[{}](https://example.com/a)", word))),
    ("images", |s| each_word(s, " ", |n, word| every_third(n, "![{}](a.png)", word))),
    ("footnotes", |s| each_word(s, " ", |n, word| every_third(n, "{}[^1]", word))),
    ("emoji", |s| each_word(s, " ", |n, word| every_third(n, "{} 📧", word))),
    ("comments within", |s| s.replace('i', "i<!-- -->")),
];

fn every_third(place: usize, form: &str, word: &str) -> String {
    if place % 3 == 1 { form.replace("{}", word) } else { word.to_owned() }
}

fn full_width(c: char) -> char {
    match c {
        ' ' => '\u{3000}',
        '!'..='~' => char::from_u32(u32::from(c) + 0xfee0).unwrap(),
        _ => c,
    }
}

/// Returns the letter of an alphabet that begins at these characters.
fn from(c: char, upper: u32, lower: u32) -> char {
    match c {
        'A'..='Z' => char::from_u32(upper + u32::from(c) - u32::from('A')).unwrap(),
        'a'..='z' => char::from_u32(lower + u32::from(c) - u32::from('a')).unwrap(),
        _ => c,
    }
}

/// Returns the character after `c` in a list of pairs.
fn like(c: char, pairs: &str) -> char {
    pairs.chars().skip_while(|found| *found != c).nth(1).unwrap_or(c)
}
