//! Forms that divide a sentence.

use super::{WriteText, each_word, pieces};

/// Forms that divide a sentence into lines, cells or shorter sentences.
pub const LINES: [(&str, WriteText); 28] = [
    ("wrapped", |s| pieces(s, 5, "", "\n")),
    ("wrapped comment", |s| pieces(s, 5, "# ", "\n")),
    ("wrapped quotation", |s| pieces(s, 5, "> ", "\n")),
    ("wrapped item", |s| format!("- {}\n- Another item\n", pieces(s, 5, "", "\n  "))),
    ("document comment", |s| format!("/**\n{}\n */\n", pieces(s, 5, " * ", "\n"))),
    ("folded", |s| format!("note: >-\n  {}", pieces(s, 5, "", "\n  "))),
    ("fenced", |s| format!("```text\n{}\n```", pieces(s, 5, "", "\n"))),
    ("hard breaks", |s| pieces(s, 5, "", "  \n")),
    ("continued", |s| pieces(s, 5, "", " \\\n")),
    ("carriage returns", |s| pieces(s, 5, "", " \r\n")),
    ("line separators", |s| pieces(s, 5, "", "\u{2028}")),
    ("next lines", |s| pieces(s, 5, "", "\u{85}")),
    ("form feeds", |s| pieces(s, 5, "", "\x0c")),
    ("word a line", |s| s.replace(' ', "\n")),
    ("word an item", |s| each_word(s, "\n", |_, word| format!("- {word}"))),
    ("word a cell", |s| format!("| {} |", s.replace(' ', " | "))),
    ("cells", |s| format!("{} |", pieces(s, 4, "| ", " |\n"))),
    ("paragraphs", |s| pieces(s, 5, "", "\n\n")),
    ("headings", |s| pieces(s, 5, "## ", "\n\n")),
    ("numbered", |s| pieces(s, 5, "1. ", "\n")),
    ("joined strings", |s| format!("x = \"{}\"", pieces(s, 4, "", " \" +\n \""))),
    ("strings side by side", |s| format!("(\"{}\")", pieces(s, 4, "", " \"\n \""))),
    ("full stops", |s| pieces(s, 4, "", ". ")),
    ("semicolons", |s| pieces(s, 4, "", "; ")),
    ("exclamation marks", |s| pieces(s, 4, "", "! ")),
    ("dashes", |s| pieces(s, 4, "", " — ")),
    ("ellipses", |s| pieces(s, 4, "", "... ")),
    ("comments between", |s| pieces(s, 4, "", " <!-- of another kind --> ")),
];
