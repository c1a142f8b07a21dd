//! Turns as callers see them.

use knowhow_domain::prompt::Missing;
use knowhow_domain::untrusted;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a turn brings. Read again, it is the same bytes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct TurnAnswer {
    /// Its number, from 1.
    #[schema(minimum = 1)]
    pub turn: i32,
    /// Rounds that the agent may take to answer the message. A round is one call of its model, with the tool calls that it asks
    /// for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i32, required = true, minimum = 1)]
    pub max_turns: Option<i32>,
    /// In answers that were stored before `max_turns` took its place: they are read again byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub(super) turns_left: Option<i32>,
    /// Skills that the message names, with their bodies: instructions.
    pub active: Vec<ActiveView>,
    /// Skills that the user excluded in this message: they are not recalled, and this message teaches them nothing. At most
    /// the first 64.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[schema(required = false)]
    pub excluded: Vec<ExcludedView>,
    /// Skills that the message names whose bodies are longer than the turn has room for; load them with `skill_view`.
    pub too_long: Vec<TooLongView>,
    /// Skills that the message asks about, then those that may help, best first: for reference.
    pub relevant: Vec<RelevantView>,
    /// Skills that the relevant ones name in `see_also`.
    pub related: Vec<RelatedView>,
    /// A reminder to save what was learned, in every tenth turn. The first one also names the conversation before, if something was
    /// worked out in it without a skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nudge: Option<String>,
    /// The block to put into the prompt as is; empty where nothing was found.
    pub text: String,
    /// What was not there in time: `embedding`, the message's vector, without which words alone decided; `catalogue`,
    /// the user's skills, without which nothing was looked for; `bodies`, of a large library that was not looked at for
    /// long: for some seconds its skills are found by their names, descriptions, triggers and meaning alone.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[schema(required = false)]
    pub degraded: Vec<String>,
}

impl TurnAnswer {
    /// The skills that it shows without a mark.
    pub(super) fn trusted_names(&self) -> Vec<&str> {
        let active = self.active.iter().map(|skill| (&skill.name, skill.tainted));
        let too_long = self.too_long.iter().map(|skill| (&skill.name, skill.tainted));
        let relevant = self.relevant.iter().map(|skill| (&skill.name, skill.tainted));
        let all = active.chain(too_long).chain(relevant);
        let all = all.chain(self.related.iter().map(|skill| (&skill.name, skill.tainted)));
        all.filter(|(_, tainted)| !tainted).map(|(name, _)| name.as_str()).collect()
    }

    /// Marks these skills, in the members and above the text.
    pub(super) fn mark(&mut self, names: &[String]) {
        let is_one = |name: &String| names.contains(name);
        self.active.iter_mut().for_each(|skill| skill.tainted |= is_one(&skill.name));
        self.too_long.iter_mut().for_each(|skill| skill.tainted |= is_one(&skill.name));
        self.relevant.iter_mut().for_each(|skill| skill.tainted |= is_one(&skill.name));
        self.related.iter_mut().for_each(|skill| skill.tainted |= is_one(&skill.name));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.text = untrusted::warn(&self.text, &names);
    }
}

/// A skill that the message names.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ActiveView {
    /// The skill's full name, with its namespaces.
    pub name: String,
    /// The version whose body this is.
    pub version: i32,
    /// The markdown body, or its beginning.
    pub content: String,
    /// What had no room at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingView>,
    /// Paths of its other files, for `skill_view` with `path` or `GET /v1/skills/{skill}/resources/{path}`.
    #[serde(default)]
    #[schema(required = false)]
    pub files: Vec<String>,
    /// `called in the message`, an instruction, or `named in the message`, an offer.
    pub reason: String,
    /// Whether text of it came from a tainted session, and no person has approved it: information, no instructions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub tainted: bool,
}

/// A skill that the user excluded.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExcludedView {
    /// The skill's full name, with its namespaces.
    #[schema(example = "drop-tables")]
    pub name: String,
    /// `the user excluded it`.
    pub reason: String,
}

/// What of a body had no room: it is cut at the end of a section, where it has sections. `skill_view` has all of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MissingView {
    /// Characters that are missing.
    pub characters: usize,
    /// Headings of the missing sections, in order: at most the first 32.
    pub sections: Vec<String>,
}

impl MissingView {
    pub(super) fn as_part(&self) -> Missing<'_> {
        Missing { characters: self.characters, sections: &self.sections }
    }
}

/// A skill without room.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TooLongView {
    /// The skill's full name, with its namespaces.
    pub name: String,
    /// Characters of its body.
    pub characters: usize,
    /// Whether text of it came from a tainted session, and no person has approved it: information, no instructions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub tainted: bool,
}

/// A skill that may help.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RelevantView {
    /// The skill's full name, with its namespaces.
    pub name: String,
    /// The line of the index.
    pub summary: String,
    /// How likely the message asks for it, 0 to 1: for any skill at all, times how near this one is to the best.
    pub score: f32,
    /// Why, in words and numbers; `asked about in the message` if the message asks what the skill is or does.
    pub reason: String,
    /// For the best, with `inline_top` or where the agent has no tools, and for as many more as have room where it has
    /// none: the body, as reference material.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Its version, with `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// What had no room at the end of `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingView>,
    /// Paths of its other files, with `content`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub files: Vec<String>,
    /// Whether text of it came from a tainted session, and no person has approved it: information, no instructions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub tainted: bool,
}

/// A neighbour.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RelatedView {
    /// The skill's full name, with its namespaces.
    pub name: String,
    /// The line of the index.
    pub summary: String,
    /// The skill whose `see_also` names it.
    pub via: String,
    /// Whether text of it came from a tainted session, and no person has approved it: information, no instructions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub tainted: bool,
}

#[cfg(test)]
mod tests;
