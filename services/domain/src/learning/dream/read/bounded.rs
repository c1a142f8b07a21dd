//! Shortens a model's answer to a size that people can read and the journal can store.

use serde_json::{Map, Value};

const TEXT_CHARS: usize = 2_000;
const ENTRIES: usize = 32;
const KEY_CHARS: usize = 100;
const DEPTH: usize = 4;
/// Maximum number of characters in all texts and keys together. Each value counts as one more character. The rest is
/// omitted.
const CHARS: usize = 16_000;

/// Shortens long texts, lists and objects, and replaces deeply nested values by `…`.
pub(super) fn bounded(value: &Value) -> Value {
    ValueCutter { chars_left: CHARS }.value(value, 0)
}

struct ValueCutter {
    chars_left: usize,
}

impl ValueCutter {
    fn value(&mut self, value: &Value, depth: usize) -> Value {
        self.chars_left = self.chars_left.saturating_sub(1);
        match value {
            Value::String(text) => Value::String(self.text(text, TEXT_CHARS)),
            Value::Array(_) | Value::Object(_) if depth == DEPTH => Value::String("…".to_owned()),
            Value::Array(items) => {
                let mut kept = Vec::new();
                for item in items.iter().take(ENTRIES) {
                    if self.chars_left > 0 {
                        kept.push(self.value(item, depth + 1));
                    }
                }
                Value::Array(kept)
            }
            Value::Object(map) => {
                let mut kept = Map::new();
                for (key, value) in map.iter().take(ENTRIES) {
                    if self.chars_left > 0 {
                        kept.insert(self.text(key, KEY_CHARS), self.value(value, depth + 1));
                    }
                }
                Value::Object(kept)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn text(&mut self, text: &str, most: usize) -> String {
        let most = most.min(self.chars_left);
        // The database cannot store NUL in JSON.
        let mut shown = text.chars().filter(|c| *c != '\0');
        let kept: String = shown.by_ref().take(most).collect();
        self.chars_left -= kept.chars().count();
        if shown.next().is_some() { kept + "…" } else { kept }
    }
}

#[cfg(test)]
mod tests;
