//! Edits to single fields, and their validation.

use serde_json::{Map, Value};

use super::fields::{Role, SEE_ALSO};
use crate::kernel::error::FieldError;
use crate::kernel::limits::{COMPATIBILITY_CHARS, DESCRIPTION_CHARS, SUMMARY_WORDS};
use crate::skills::name::{SkillName, lookup_key};

pub(crate) const LIST_ENTRIES: usize = 32;
const TRIGGERS: usize = 8;
const ENTRY_CHARS: usize = 100;
const CATEGORY_CHARS: usize = 64;
const LINE_CHARS: usize = 500;
const METADATA_DEPTH: usize = 8;
const METADATA_BYTES: usize = 16 * 1024;
const METADATA_KEYS: usize = 64;

macro_rules! field_edits {
    (
        single { $($(#[doc = $doc:literal])* $(#[schema $schema:tt])? $single:ident: $type:ident,)* }
        lists { $($(#[doc = $list_doc:literal])* $(#[schema $list_schema:tt])? $list:ident,)* }
    ) => {
        /// Changes to a frontmatter. `None` keeps a field; `Some(None)` or an empty list removes it.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct FieldEdits {
            /// Purpose of the skill and when to use it, 1 to 1024 characters.
            pub description: Option<String>,
            $($(#[doc = $doc])* pub $single: Option<Option<$type>>,)*
            $($(#[doc = $list_doc])* pub $list: Option<Vec<String>>,)*
            /// Changes to the frontmatter's `metadata`, key by key; null removes a key, `None` keeps all keys.
            pub metadata: Option<Map<String, Value>>,
        }
    };
}
crate::with_skill_fields!(field_edits);

impl FieldEdits {
    /// Checks whether there are no changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns an error for each violated rule.
    pub fn validate(&self) -> Vec<FieldError> {
        self.absorbed().err().unwrap_or_default()
    }

    /// Validates the edits, and moves Knowhow's own fields out of `metadata`, because callers may also send them
    /// there.
    pub(super) fn absorbed(&self) -> Result<Self, Vec<FieldError>> {
        let mut edits = self.clone();
        let mut errors = Vec::new();
        if let Some(metadata) = &mut edits.metadata {
            let mut map = std::mem::take(metadata);
            absorb_text(&mut map, "summary", &mut edits.summary);
            absorb_text(&mut map, "category", &mut edits.category);
            absorb_text(&mut map, "author", &mut edits.author);
            absorb_list(&mut map, &["tags"], &mut edits.tags);
            absorb_list(&mut map, &["triggers"], &mut edits.triggers);
            absorb_list(&mut map, &SEE_ALSO, &mut edits.see_also);
            absorb_role(&mut map, &mut edits.role);
            *metadata = map;
        }
        edits.check_texts(&mut errors);
        edits.check_lists(&mut errors);
        if let Some(map) = &edits.metadata {
            check_metadata(map, &mut errors);
        }
        for entry in edits.see_also.iter_mut().flatten() {
            *entry = lookup_key(entry).unwrap_or_default();
        }
        if errors.is_empty() { Ok(edits) } else { Err(errors) }
    }

    fn check_texts(&self, errors: &mut Vec<FieldError>) {
        if let Some(text) = &self.description {
            check_text("/description", text, DESCRIPTION_CHARS, errors);
        }
        for (pointer, text, longest) in [
            ("/license", &self.license, LINE_CHARS),
            ("/compatibility", &self.compatibility, COMPATIBILITY_CHARS),
            ("/allowed_tools", &self.allowed_tools, 4096),
        ] {
            if let Some(Some(text)) = text {
                check_text(pointer, text, longest, errors);
            }
        }
        for (pointer, text, longest) in [
            ("/summary", &self.summary, LINE_CHARS),
            ("/category", &self.category, CATEGORY_CHARS),
            ("/author", &self.author, LINE_CHARS),
        ] {
            if let Some(Some(text)) = text {
                check_line(pointer, text, longest, errors);
            }
        }
        let words = self.summary.iter().flatten().map(|text| text.split_whitespace().count()).max().unwrap_or(0);
        if words > SUMMARY_WORDS {
            let detail = format!("must have at most {SUMMARY_WORDS} words, has {words}");
            errors.push(FieldError::new("/summary", detail));
        }
    }

    fn check_lists(&self, errors: &mut Vec<FieldError>) {
        for (pointer, list, most) in [
            ("/tags", &self.tags, LIST_ENTRIES),
            ("/triggers", &self.triggers, TRIGGERS),
            ("/see_also", &self.see_also, LIST_ENTRIES),
        ] {
            let list = list.as_deref().unwrap_or_default();
            if list.len() > most {
                let detail = format!("must have at most {most} entries, has {}", list.len());
                errors.push(FieldError::new(pointer, detail));
                continue;
            }
            for (index, entry) in list.iter().enumerate() {
                let pointer = format!("{pointer}/{index}");
                if pointer.starts_with("/see_also") {
                    if let (None, Err(error)) = (lookup_key(entry), SkillName::parse(entry)) {
                        let detail = error.to_string();
                        errors.push(FieldError::new(pointer, detail.trim_start_matches("/name: ")));
                    }
                } else {
                    check_line(&pointer, entry, ENTRY_CHARS, errors);
                }
            }
        }
    }
}

/// Moves a text out of the metadata into `to`. A value of another type stays there.
fn absorb_text(map: &mut Map<String, Value>, key: &str, to: &mut Option<Option<String>>) {
    let text = match map.get(key) {
        Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        _ => return,
    };
    map.remove(key);
    // If the caller sends both, the field takes precedence over its copy in the metadata.
    to.get_or_insert(text);
}

fn absorb_list(map: &mut Map<String, Value>, keys: &[&str], to: &mut Option<Vec<String>>) {
    for key in keys {
        let list = match map.get(*key) {
            Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            Some(Value::String(text)) => Some(text.split(',').map(|item| item.trim().to_owned()).collect()),
            _ => None,
        };
        if let Some(list) = list {
            map.remove(*key);
            to.get_or_insert(list);
        }
    }
}

fn absorb_role(map: &mut Map<String, Value>, to: &mut Option<Option<Role>>) {
    let role = match map.get("role") {
        Some(Value::Null) => None,
        Some(Value::String(word)) if word.parse::<Role>().is_ok() => word.parse().ok(),
        _ => return,
    };
    map.remove("role");
    to.get_or_insert(role);
}

fn pointer_to(key: &str) -> String {
    format!("/metadata/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn check_text(pointer: &str, text: &str, longest: usize, errors: &mut Vec<FieldError>) {
    let length = text.chars().count();
    if text.trim().is_empty() {
        errors.push(FieldError::new(pointer, format!("must have 1 to {longest} characters, is blank")));
    } else if length > longest {
        errors.push(FieldError::new(pointer, format!("must have 1 to {longest} characters, has {length}")));
    }
    check_characters(pointer, text, errors);
}

fn check_line(pointer: &str, text: &str, longest: usize, errors: &mut Vec<FieldError>) {
    check_text(pointer, text, longest, errors);
    if text.contains(['\n', '\u{2028}', '\u{2029}']) {
        errors.push(FieldError::new(pointer, "must be a single line"));
    }
}

fn check_characters(pointer: &str, text: &str, errors: &mut Vec<FieldError>) {
    if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        let detail = format!("must not contain the control character U+{:04X}", u32::from(c));
        errors.push(FieldError::new(pointer, detail));
    }
}

fn check_metadata(map: &Map<String, Value>, errors: &mut Vec<FieldError>) {
    if map.len() > METADATA_KEYS {
        let detail = format!("must have at most {METADATA_KEYS} keys, has {}", map.len());
        errors.push(FieldError::new("/metadata", detail));
    }
    let bytes = serde_json::to_string(map).map_or(usize::MAX, |json| json.len());
    if bytes > METADATA_BYTES {
        errors.push(FieldError::new(
            "/metadata",
            format!("must have at most {METADATA_BYTES} bytes as JSON, has {bytes}"),
        ));
        return;
    }
    for (key, value) in map {
        check_key("/metadata", key, errors);
        if !value.is_null() {
            check_value(&pointer_to(key), value, 1, errors);
        }
    }
}

fn check_key(pointer: &str, key: &str, errors: &mut Vec<FieldError>) {
    check_line(pointer, key, ENTRY_CHARS, errors);
}

fn check_value(pointer: &str, value: &Value, depth: usize, errors: &mut Vec<FieldError>) {
    if depth > METADATA_DEPTH {
        errors.push(FieldError::new(pointer, format!("is nested deeper than {METADATA_DEPTH} levels")));
        return;
    }
    let empty = "is empty, which a strict SKILL.md does not allow; omit it, or send null to remove it";
    match value {
        Value::String(text) => check_characters(pointer, text, errors),
        Value::Array(items) if items.is_empty() => errors.push(FieldError::new(pointer, empty)),
        Value::Object(map) if map.is_empty() => errors.push(FieldError::new(pointer, empty)),
        Value::Array(items) => items.iter().for_each(|item| check_value(pointer, item, depth + 1, errors)),
        Value::Object(map) => {
            for (key, value) in map {
                check_key(pointer, key, errors);
                check_value(pointer, value, depth + 1, errors);
            }
        }
        _ => {}
    }
}
