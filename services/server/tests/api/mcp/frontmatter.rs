//! The frontmatter in an entry: the values that a YAML 1.2 parser reads from the served SKILL.md.

use serde_json::{Value, json};

use super::entries::{entry, import, verified};
use crate::answers::members;
use crate::callers::World;

/// Returns YAML values and their JSON equivalents.
fn values() -> Vec<(&'static str, Value)> {
    vec![
        ("1.10", json!(1.1)),
        ("1.0", json!(1.0)),
        ("3", json!(3)),
        ("0755", json!(755)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("1e3", json!(1000.0)),
        ("18446744073709551615", json!(u64::MAX)),
        ("true", json!(true)),
        ("FALSE", json!(false)),
        ("yes", json!("yes")),
        ("off", json!("off")),
        ("~", Value::Null),
        ("", Value::Null),
        ("2026-01-01", json!("2026-01-01")),
        ("2026-01-01T10:00:00Z", json!("2026-01-01T10:00:00Z")),
        ("12:30:45", json!("12:30:45")),
        ("1_000", json!("1_000")),
        ("'1.10'", json!("1.10")),
        ("\"\\u00fc\\n\"", json!("ü\n")),
        ("[mail, 'a: b', 1.5, [x]]", json!(["mail", "a: b", 1.5, ["x"]])),
        ("{a: {b: {c: no}}, 'd e': [~]}", json!({"a": {"b": {"c": "no"}}, "d e": [null]})),
        ("Größe 文 \u{1F600}", json!("Größe 文 \u{1F600}")),
    ]
}

#[tokio::test]
async fn yaml_values_are_read_as_hosts_read_them() {
    let World { alice, .. } = &World::new().await;
    let values = values();
    let lines: String = values.iter().enumerate().map(|(n, (text, _))| format!("k{n}: {text}\n")).collect();
    let text = format!(
        "---\nname: values\ndescription: |\n  Two\n  lines.\nmetadata:\n  nested: {{deep: [1.10, {{x: yes}}]}}\n{lines}\
         folded: >-\n  folded\n  text\n---\n\nBody\n"
    );
    import(alice, &[("values/SKILL.md", text.as_bytes())]).await;
    let found = entry(alice, "values").await;
    assert_eq!(verified(alice, &found).await["skill://values/SKILL.md"], text.as_bytes());
    let frontmatter = &found["frontmatter"];
    assert_eq!(frontmatter["description"], "Two\nlines.\n");
    assert_eq!(frontmatter["metadata"], json!({"nested": {"deep": [1.1, {"x": "yes"}]}}));
    assert_eq!(frontmatter["folded"], "folded text");
    for (n, (text, value)) in values.iter().enumerate() {
        assert_eq!(&frontmatter[format!("k{n}")], value, "{text}");
        assert_eq!(frontmatter[format!("k{n}")].is_f64(), value.is_f64(), "{text}");
    }
    assert_eq!(frontmatter.as_object().unwrap().len(), values.len() + 4);
}

#[tokio::test]
async fn fields_of_a_saved_skill_are_in_the_frontmatter() {
    let World { alice, .. } = &World::new().await;
    let fields = json!({
        "name": "mcp/email", "description": "Sends mail: \"now\" # soon", "content": "Body\n", "summary": "yes",
        "category": "office", "tags": ["1.10", "a: b"], "triggers": ["send"], "see_also": ["plan"], "license": "MIT",
        "allowed_tools": "Read Grep", "author": "A", "metadata": {"version": 1.5, "on": true, "date": "2026-01-01"},
    });
    alice.does("skill_save", fields).await;
    let found = entry(alice, "mcp/email").await;
    verified(alice, &found).await;
    let frontmatter = &found["frontmatter"];
    assert_eq!(members(frontmatter), ["allowed-tools", "description", "license", "metadata", "name"]);
    assert_eq!((&frontmatter["name"], &frontmatter["license"]), (&json!("email"), &json!("MIT")));
    assert_eq!(frontmatter["description"], "Sends mail: \"now\" # soon");
    assert_eq!(frontmatter["allowed-tools"], "Read Grep");
    assert_eq!(
        frontmatter["metadata"],
        json!({
            "author": "A", "category": "office", "date": "2026-01-01", "on": true, "see-also": ["plan"],
            "summary": "yes", "tags": ["1.10", "a: b"], "triggers": ["send"], "version": 1.5,
        })
    );
}

/// A frontmatter may have keys named like the members of an entry.
#[tokio::test]
async fn frontmatter_keys_do_not_replace_members_of_the_entry() {
    let World { alice, .. } = &World::new().await;
    let text = "---\nname: keys\ndescription: d\nuri: skill://other/SKILL.md\nresources: []\n_meta: {a: 1}\nextra: x\n\
                frontmatter: y\n---\nBody\n";
    import(alice, &[("keys/SKILL.md", text.as_bytes())]).await;
    let found = entry(alice, "keys").await;
    verified(alice, &found).await;
    assert_eq!(members(&found), ["frontmatter", "resources", "uri"]);
    assert_eq!(found["uri"], "skill://keys/SKILL.md");
    let expected = json!({
        "name": "keys", "description": "d", "uri": "skill://other/SKILL.md", "resources": [], "_meta": {"a": 1},
        "extra": "x", "frontmatter": "y",
    });
    assert_eq!(found["frontmatter"], expected);
}

#[tokio::test]
async fn the_newest_version_is_served() {
    let World { alice, .. } = &World::new().await;
    alice.does("skill_save", json!({"skill_md": "---\nname: p\ndescription: d\nv: 1.10\n---\nBody\n"})).await;
    let first = entry(alice, "p").await;
    let edits =
        json!([{"old_string": "v: 1.10", "new_string": "v: [1.20]"}, {"old_string": "Body", "new_string": "More"}]);
    alice.does("skill_patch", json!({"name": "p", "edits": edits})).await;
    let second = entry(alice, "p").await;
    assert_eq!((&first["frontmatter"]["v"], &second["frontmatter"]["v"]), (&json!(1.1), &json!([1.2])));
    assert_ne!(first["resources"], second["resources"]);
    verified(alice, &second).await;
    alice.post("/v1/skills/p/rollback", json!({"version": 1})).await.ok(200);
    assert_eq!(entry(alice, "p").await, first);
    alice.put("/v1/skills/p/fields", json!({"license": "MIT"})).await.ok(200);
    let last = entry(alice, "p").await;
    assert_eq!(last["frontmatter"]["license"], "MIT");
    verified(alice, &last).await;
}
