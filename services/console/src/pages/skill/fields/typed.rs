//! The fields of a skill as a form has them, and the changes that a user made to them.

use knowhow_domain::{Error, Result, SummaryBy};
use knowhow_ops::skills::{PutFields, Skill};
use serde::{Deserialize, Serialize};

use crate::shown::unix_lines;

/// The fields as a form has them: lists are one entry a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypedFields {
    pub description: String,
    pub summary: String,
    pub category: String,
    pub tags: String,
    pub triggers: String,
    pub see_also: String,
    pub role: String,
    /// Present if the box is checked.
    pub pinned: Option<String>,
}

impl TypedFields {
    /// Returns the fields of a skill. A generated summary is not one of them.
    pub fn of(skill: &Skill) -> Self {
        Self {
            description: skill.description.clone(),
            summary: if skill.summary_by == SummaryBy::Author { skill.summary.clone() } else { String::new() },
            category: skill.category.clone().unwrap_or_default(),
            tags: skill.tags.join("\n"),
            triggers: skill.triggers.join("\n"),
            see_also: skill.see_also.join("\n"),
            role: skill.role.clone().unwrap_or_default(),
            pinned: skill.pinned.then(|| "on".to_owned()),
        }
    }

    /// Parses the fields of [`TypedFields::to_json`].
    ///
    /// # Errors
    /// `Malformed` for other texts.
    pub fn parse(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|error| Error::Malformed(format!("the form cannot be read: {error}")))
    }

    /// Returns the fields as JSON.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(Error::internal)
    }

    /// Returns the fields that the user changed, so that others stay as their author wrote them.
    ///
    /// # Errors
    /// `Invalid` for an unknown role.
    pub fn changes(&self, original: &Self) -> Result<PutFields> {
        let single = |typed: &str, original: &str| {
            let typed = typed.trim();
            (typed != original.trim()).then(|| Some(typed.to_owned()).filter(|text| !text.is_empty()))
        };
        let list = |typed: &str, original: &str| {
            let typed = entries(typed);
            (typed != entries(original)).then_some(typed)
        };
        let role = match single(&self.role, &original.role) {
            Some(Some(name)) => {
                Some(Some(name.parse().map_err(|_| Error::invalid("/role", "is not one of the roles"))?))
            }
            Some(None) => Some(None),
            None => None,
        };
        let description = unix_lines(&self.description);
        let is_described = is_same(&description, &original.description);
        Ok(PutFields {
            description: (!is_described).then(|| description.trim().to_owned()),
            summary: single(&self.summary, &original.summary),
            category: single(&self.category, &original.category),
            tags: list(&self.tags, &original.tags),
            triggers: list(&self.triggers, &original.triggers),
            see_also: list(&self.see_also, &original.see_also),
            role,
            pinned: (self.pinned.is_some() != original.pinned.is_some()).then_some(self.pinned.is_some()),
            ..PutFields::default()
        })
    }

    /// Returns the current fields, with the fields that the user changed.
    pub fn onto(self, original: &Self, current: &Self) -> Self {
        let is_pinned_changed = self.pinned.is_some() != original.pinned.is_some();
        let texts = self.with_texts(original, current, |typed, original, current| {
            if is_same(typed, original) { current.to_owned() } else { typed.to_owned() }
        });
        Self { pinned: if is_pinned_changed { self.pinned } else { current.pinned.clone() }, ..texts }
    }

    /// Returns these fields without those that are the same in the form. An empty one is shown as a dash.
    pub fn other_than(&self, typed: &Self) -> Self {
        let pinned = match (self.pinned.is_some(), typed.pinned.is_some()) {
            (true, false) => Some("pinned".to_owned()),
            (false, true) => Some("not pinned".to_owned()),
            _ => None,
        };
        let texts = self.with_texts(typed, typed, |stored, typed, _| match is_same(stored, typed) {
            true => String::new(),
            false if stored.is_empty() => "-".to_owned(),
            false => stored.to_owned(),
        });
        Self { pinned, ..texts }
    }

    /// Makes each text from the texts of the same field here and in two other forms.
    fn with_texts(&self, one: &Self, two: &Self, made: impl Fn(&str, &str, &str) -> String) -> Self {
        Self {
            description: made(&self.description, &one.description, &two.description),
            summary: made(&self.summary, &one.summary, &two.summary),
            category: made(&self.category, &one.category, &two.category),
            tags: made(&self.tags, &one.tags, &two.tags),
            triggers: made(&self.triggers, &one.triggers, &two.triggers),
            see_also: made(&self.see_also, &one.see_also, &two.see_also),
            role: made(&self.role, &one.role, &two.role),
            pinned: None,
        }
    }
}

/// Compares texts as forms send them, without regard to line breaks and blanks at their ends.
fn is_same(one: &str, other: &str) -> bool {
    unix_lines(one).trim() == unix_lines(other).trim()
}

fn entries(lines: &str) -> Vec<String> {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::TypedFields;

    fn fields(description: &str, tags: &str, pinned: bool) -> TypedFields {
        let pinned = pinned.then(|| "on".to_owned());
        TypedFields { description: description.into(), tags: tags.into(), pinned, ..TypedFields::default() }
    }

    #[test]
    fn only_the_fields_that_the_user_changed_are_written() {
        let original = fields("Old\ntext", "one\ntwo", false);
        let changes = fields("Old\r\ntext ", "one\r\n\r\n three", false).changes(&original).unwrap();
        assert_eq!((changes.description, changes.pinned, changes.summary), (None, None, None));
        assert_eq!(changes.tags, Some(vec!["one".to_owned(), "three".to_owned()]));
    }

    #[test]
    fn after_a_conflict_other_fields_have_the_current_text() {
        let (original, current) = (fields("old", "one", false), fields("theirs", "two", true));
        let typed = fields("mine", "one", false).onto(&original, &current);
        assert_eq!(typed, fields("mine", "two", true));
        let shown = current.other_than(&typed);
        assert_eq!((&*shown.description, &*shown.tags, shown.pinned), ("theirs", "", None));
        assert_eq!(fields("", "", false).other_than(&fields("a", "", true)).description, "-");
    }

    #[test]
    fn json_is_read_as_it_was_written() {
        let written = fields("a\"<b>", "one", true);
        assert_eq!(TypedFields::parse(&written.to_json().unwrap()).unwrap(), written);
        assert!(TypedFields::parse("").is_err());
    }
}
