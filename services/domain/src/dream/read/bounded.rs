//! What a model gave, cut to what a person looks at and a journal can keep.

use serde_json::{Map, Value};

const TEXT_CHARS: usize = 2_000;
const ENTRIES: usize = 32;
const KEY_CHARS: usize = 100;
const DEPTH: usize = 4;
/// All texts and keys together, and one for each value. What comes after them is left out.
const CHARS: usize = 16_000;

/// The value with long texts cut, long lists and objects shortened, and what is nested too deeply replaced by `…`.
pub(super) fn bounded(value: &Value) -> Value {
    Cut { chars_left: CHARS }.value(value, 0)
}

struct Cut {
    chars_left: usize,
}

impl Cut {
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
        // NUL is taken out: the database cannot keep it in JSON.
        let mut shown = text.chars().filter(|c| *c != '\0');
        let kept: String = shown.by_ref().take(most).collect();
        self.chars_left -= kept.chars().count();
        if shown.next().is_some() { kept + "…" } else { kept }
    }
}

#[cfg(test)]
mod tests;
