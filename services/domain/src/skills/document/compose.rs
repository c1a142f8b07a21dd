//! Composes the frontmatter of new documents, and translates edits into changes to a document's tree.

use serde_json::Value;

use super::change::NodeChange;
use super::edits::FieldEdits;
use super::fields::{ALLOWED_TOOLS, Fields, RELATED, SEE_ALSO, in_hermes};
use super::print::{self, Dialect};
use super::yaml::{Node, NodeContent};
use crate::kernel::error::{Error, Result};
use crate::skills::name::SkillName;

/// Prints the frontmatter of a new document from validated edits.
pub(super) fn frontmatter(name: &SkillName, edits: &FieldEdits) -> Result<String> {
    let Some(description) = &edits.description else {
        let detail = "a new skill needs a description of 1 to 1024 characters: its purpose and when to use it";
        return Err(Error::invalid("/description", detail));
    };
    let mut top = vec![("name", name.last_segment().to_owned()), ("description", description.clone())];
    for (key, text) in
        [("license", &edits.license), ("compatibility", &edits.compatibility), ("allowed-tools", &edits.allowed_tools)]
    {
        top.extend(text.iter().flatten().map(|text| (key, text.clone())));
    }
    let mut entries: Vec<_> = top.iter().map(|(key, text)| (Node::text(key), Node::text(text))).collect();
    let mut metadata: Vec<_> =
        own(edits).into_iter().filter_map(|field| Some((Node::text(field.keys[0]), field.value?))).collect();
    for (key, value) in edits.metadata.iter().flatten().filter(|(_, value)| !value.is_null()) {
        metadata.push((Node::text(key), Node::from_json(value)));
    }
    if !metadata.is_empty() {
        entries.push((Node::text("metadata"), Node::made(NodeContent::Mapping(metadata))));
    }
    Ok(print::mapping(&entries, 0, Dialect::Strict))
}

/// Returns the changes to the tree that make the fields match the edits. A field that already has its new value needs
/// no change.
pub(super) fn changes(root: &Node, fields: &Fields, edits: &FieldEdits) -> Result<Vec<NodeChange>> {
    let mut changes = Vec::new();
    if let Some(text) = edits.description.as_ref().filter(|text| **text != fields.description) {
        changes.push(NodeChange { path: vec!["description".into()], value: Some(Node::text(text)) });
    }
    for (keys, edit, current) in [
        (&["license"][..], &edits.license, &fields.attributes.license),
        (&["compatibility"], &edits.compatibility, &fields.attributes.compatibility),
        (&ALLOWED_TOOLS, &edits.allowed_tools, &fields.attributes.allowed_tools),
    ] {
        if let Some(edit) = edit.as_ref().filter(|edit| *edit != current) {
            standard_changes(root, keys, edit.as_deref(), &mut changes);
        }
    }
    let current = own(&current(fields));
    for field in own(edits) {
        let before = current.iter().find(|known| known.keys == field.keys).and_then(|known| known.value.as_ref());
        let same = match (before, &field.value) {
            (Some(before), Some(value)) => before.same(value),
            (None, None) => true,
            _ => false,
        };
        if !same {
            own_changes(root, &field, &mut changes);
        }
    }
    metadata_changes(root, fields, edits, &mut changes)?;
    Ok(changes)
}

/// A field that Knowhow adds to the format: the spellings of its key, and its new value.
struct OwnField {
    keys: &'static [&'static str],
    value: Option<Node>,
}

/// Returns the edited fields that Knowhow adds to the format, always in the same order.
fn own(edits: &FieldEdits) -> Vec<OwnField> {
    let text = |edit: &Option<Option<String>>| edit.as_ref().map(|text| text.as_deref().map(Node::text));
    let list = |edit: &Option<Vec<String>>| edit.as_ref().map(|items| list_node(items));
    let role = edits.role.map(|role| role.map(|role| Node::text(role.as_str())));
    let all: [(&'static [&'static str], _); 7] = [
        (&["summary"], text(&edits.summary)),
        (&["category"], text(&edits.category)),
        (&["tags"], list(&edits.tags)),
        (&["triggers"], list(&edits.triggers)),
        (&SEE_ALSO, list(&edits.see_also)),
        (&["role"], role),
        (&["author"], text(&edits.author)),
    ];
    all.into_iter().filter_map(|(keys, value)| Some(OwnField { keys, value: value? })).collect()
}

fn list_node(items: &[String]) -> Option<Node> {
    let nodes = items.iter().map(|item| Node::text(item)).collect();
    (!items.is_empty()).then(|| Node::made(NodeContent::Sequence(nodes)))
}

/// Returns the current values of the fields as edits.
fn current(fields: &Fields) -> FieldEdits {
    FieldEdits {
        summary: Some(fields.summary.clone()),
        category: Some(fields.category.clone()),
        author: Some(fields.attributes.author.clone()),
        role: Some(fields.role),
        tags: Some(fields.tags.clone()),
        triggers: Some(fields.triggers.clone()),
        see_also: Some(fields.see_also.clone()),
        ..FieldEdits::default()
    }
}

fn standard_changes(root: &Node, keys: &[&str], text: Option<&str>, changes: &mut Vec<NodeChange>) {
    let present: Vec<&str> = keys.iter().copied().filter(|key| root.get(key).is_some()).collect();
    match text {
        Some(text) => {
            let key = present.first().copied().unwrap_or(keys[0]);
            changes.push(NodeChange { path: vec![key.into()], value: Some(Node::text(text)) });
        }
        None => changes.extend(present.into_iter().map(|key| NodeChange { path: vec![key.into()], value: None })),
    }
}

/// Sets a field in the place that is read first, or removes the field from all places.
fn own_changes(root: &Node, field: &OwnField, changes: &mut Vec<NodeChange>) {
    let metadata = root.get("metadata");
    let top = field.keys.iter().filter(|key| root.get(key).is_some()).map(|key| vec![(*key).to_owned()]);
    let below = field
        .keys
        .iter()
        .filter(|key| metadata.is_some_and(|node| node.get(key).is_some()))
        .map(|key| vec!["metadata".to_owned(), (*key).to_owned()]);
    let places: Vec<Vec<String>> = top.chain(below).collect();
    match &field.value {
        None => {
            changes.extend(places.into_iter().map(|path| NodeChange { path, value: None }));
            changes.extend(hide_hermes(root, field.keys[0]));
        }
        Some(value) => {
            let roomy = metadata.is_none_or(|node| node.entries().is_some() || node.is_null());
            let key = field.keys[0].to_owned();
            let fresh = if roomy { vec!["metadata".to_owned(), key] } else { vec![key] };
            let path = places.into_iter().next().unwrap_or(fresh);
            changes.push(NodeChange { path, value: Some(value.clone()) });
        }
    }
}

/// Sets an empty value, which hides Hermes' value of the field. Hermes' own mapping is not changed.
fn hide_hermes(root: &Node, key: &str) -> Option<NodeChange> {
    let hermes = if key == SEE_ALSO[0] { RELATED } else { key };
    let is_list = hermes == RELATED || key == "tags";
    in_hermes(root, hermes).filter(|_| is_list)?;
    let path = vec!["metadata".to_owned(), key.to_owned()];
    Some(NodeChange { path, value: Some(Node::text("")) })
}

fn metadata_changes(root: &Node, fields: &Fields, edits: &FieldEdits, changes: &mut Vec<NodeChange>) -> Result<()> {
    let Some(map) = edits.metadata.as_ref().filter(|map| !map.is_empty()) else { return Ok(()) };
    if root.get("metadata").is_some_and(|node| node.entries().is_none() && !node.is_null()) {
        let detail = "the frontmatter's metadata is not a mapping; save the whole document to replace it";
        return Err(Error::invalid("/metadata", detail));
    }
    for (key, value) in map {
        let path = vec!["metadata".to_owned(), key.clone()];
        match (fields.attributes.metadata.get(key), value) {
            (Some(_), Value::Null) => changes.push(NodeChange { path, value: None }),
            (None, Value::Null) => {}
            (Some(before), value) if before == value => {}
            (_, value) => changes.push(NodeChange { path, value: Some(Node::from_json(value)) }),
        }
    }
    Ok(())
}
