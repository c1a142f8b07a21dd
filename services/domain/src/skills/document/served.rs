//! SKILL.md as served to hosts over MCP: a text that hosts can parse, and the fields that they read from it.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::change::{EditedText, NodeChange};
use super::yaml::{self, Node};
use super::{SkillDocument, core, joined, notation, strict};
use crate::kernel::limits::DESCRIPTION_CHARS;
use crate::skills::name::SkillName;
use crate::text::lines;

/// A skill's SKILL.md as served to hosts, and its frontmatter as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedDocument<'a> {
    /// The text; borrowed if the stored text is served unchanged.
    pub text: Cow<'a, str>,
    /// The text's frontmatter, converted by the core schema of YAML 1.2. Hosts parse the text again and compare the
    /// result with this value.
    pub frontmatter: Map<String, Value>,
}

impl SkillDocument {
    /// Returns the text that hosts receive for the skill `name`. The stored text is served if hosts can parse it.
    /// Otherwise only the fences, `name` (the last segment) and `description` are corrected. If that fails, the whole
    /// frontmatter is printed again. The body is never changed.
    pub fn served(&self, name: &SkillName) -> ServedDocument<'_> {
        if self.has_common_fences()
            && let Some(frontmatter) = read(self.frontmatter()).filter(|map| is_fit(map, name))
        {
            return ServedDocument { text: Cow::Borrowed(&self.raw), frontmatter };
        }
        let printed = || strict::frontmatter(&self.root, name);
        let (text, frontmatter) = self
            .corrected(name)
            .or_else(|| with_meaning(printed().replace('\n', self.common_ending())))
            .unwrap_or_else(|| (self.frontmatter().to_owned(), Map::new()));
        ServedDocument { text: Cow::Owned(self.under_common_fences(&text)), frontmatter }
    }

    /// Corrects name and description in the frontmatter if necessary.
    fn corrected(&self, name: &SkillName) -> Option<(String, Map<String, Value>)> {
        let text = match self.frontmatter() {
            text if has_lone_cr(text) => lines::convert(text, "\n"),
            text => text.to_owned(),
        };
        let before = read(&text)?;
        let mut draft = EditedText { root: yaml::parse(&text).ok()?, text };
        let wanted = [
            ("name", name.last_segment(), has_name(&before, name)),
            ("description", self.fields.description.as_str(), has_description(&before)),
        ];
        for (key, value, _) in wanted.into_iter().filter(|(.., is_right)| !is_right) {
            let change = NodeChange { path: vec![key.to_owned()], value: Some(Node::text(value)) };
            draft.apply(&change).then_some(())?;
        }
        with_meaning(draft.text).filter(|(_, map)| is_fit(map, name))
    }

    /// Checks whether all hosts find the frontmatter: no byte order mark, fences without blanks, LF or CRLF line
    /// ends.
    fn has_common_fences(&self) -> bool {
        let raw = &self.raw;
        let opens = raw.starts_with("---\n") || raw.starts_with("---\r\n");
        opens && !has_lone_cr(self.frontmatter()) && self.closes_with_lf()
    }

    fn closes_with_lf(&self) -> bool {
        self.raw[..self.parts.after_fence].ends_with('\n')
    }

    fn common_ending(&self) -> &'static str {
        if lines::ending(&self.raw) == "\r\n" { "\r\n" } else { "\n" }
    }

    fn under_common_fences(&self, frontmatter: &str) -> String {
        let head = format!("---{}{frontmatter}---", self.common_ending());
        if self.closes_with_lf() {
            return head + &self.raw[self.parts.fence_end..];
        }
        joined(&(head + self.common_ending()), self.content())
    }
}

fn with_meaning(text: String) -> Option<(String, Map<String, Value>)> {
    let map = read(&text)?;
    Some((text, map))
}

/// Parses a frontmatter as hosts do, without the line end before the closing fence. Returns `None` if hosts would
/// disagree.
fn read(frontmatter: &str) -> Option<Map<String, Value>> {
    let text = frontmatter.strip_suffix('\n').unwrap_or(frontmatter);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let root = yaml::parse(text).ok()?;
    core::mapping(&root).filter(|_| notation::is_common(text, &root))
}

fn is_fit(frontmatter: &Map<String, Value>, name: &SkillName) -> bool {
    has_name(frontmatter, name) && has_description(frontmatter)
}

fn has_name(frontmatter: &Map<String, Value>, name: &SkillName) -> bool {
    frontmatter.get("name").and_then(Value::as_str) == Some(name.last_segment())
}

fn has_description(frontmatter: &Map<String, Value>) -> bool {
    let description = frontmatter.get("description").and_then(Value::as_str).unwrap_or_default();
    !description.is_empty() && description.chars().count() <= DESCRIPTION_CHARS
}

fn has_lone_cr(text: &str) -> bool {
    text.replace("\r\n", "\n").contains('\r')
}
