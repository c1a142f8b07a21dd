//! Splits notes, such as MEMORY.md, into single memories.

/// Delimiter between entries in Hermes: a line with only a section sign. A section sign within a line is text.
const DELIMITER: &str = "\u{a7}";

/// Returns the entries of a text without duplicates. If the text contains Hermes' delimiter, the delimiter separates
/// the entries. Otherwise each list item and each paragraph is an entry, and headings, rules and comments are skipped.
pub(super) fn entries(text: &str) -> Vec<String> {
    let is_delimited = text.lines().any(|line| line.trim() == DELIMITER);
    let all = if is_delimited { delimited(text) } else { list_items(&without_comments(text)) };
    let mut entries: Vec<String> = Vec::new();
    for entry in all.into_iter().filter(|entry| !entry.is_empty()) {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries
}

fn delimited(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    lines.split(|line| line.trim() == DELIMITER).map(|entry| entry.join("\n").trim().to_owned()).collect()
}

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Returns the list items, with their indented continuation lines, and the paragraphs.
fn list_items(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let bare = line.trim();
        let is_rule = bare.len() >= 3 && bare.chars().all(|c| matches!(c, '-' | '*' | '_' | '='));
        if bare.is_empty() || bare.starts_with('#') || is_rule {
            is_open = false;
        } else if let Some(item) = line.strip_prefix("- ").or(line.strip_prefix("* ")).or(line.strip_prefix("+ ")) {
            entries.push(item.trim().to_owned());
            is_open = true;
        } else {
            match entries.last_mut().filter(|_| is_open) {
                Some(entry) => {
                    entry.push('\n');
                    entry.push_str(bare);
                }
                None => entries.push(bare.to_owned()),
            }
            is_open = true;
        }
    }
    entries
}

#[cfg(test)]
mod tests;
