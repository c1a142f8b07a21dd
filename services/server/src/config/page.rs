//! Renders docs/reference/settings.md from the type of the settings and its comments.

use anyhow::{Context, Result};
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

use super::Config;

/// The first setting and the title of each section of the page.
const PARTS: [(&str, &str); 7] = [
    ("database_url", "Database"),
    ("bind", "Serving"),
    ("with_worker", "Jobs"),
    ("audience", "Callers"),
    ("skill_body_bytes", "Skills and recall"),
    ("model_dir", "Models"),
    ("metrics_bind", "Telemetry"),
];

const HEAD: &str = "# Settings

Settings are `KNOWHOW_*` environment variables, which take precedence over an optional TOML file (`--config FILE`, keys in lower case
without the prefix). Unknown keys are errors. `knowhow config` prints the effective settings with secrets masked; `knowhow doctor`
reports problems (`make doctor` for the setup of `make run`).

`make settings` generates this page from `services/server/src/config.rs`; a test checks that it is current.
";

/// Renders the page as Markdown.
///
/// # Errors
/// Fails if a setting has no comment. A test ensures that all settings have one.
pub fn page() -> Result<String> {
    let defaults = toml::Table::try_from(Config::default())?;
    let RefOr::T(Schema::Object(config)) = Config::schema() else {
        anyhow::bail!("the settings are no object");
    };
    let mut page = HEAD.to_owned();
    for (name, schema) in &config.properties {
        if let Some((_, title)) = PARTS.iter().find(|(first, _)| first == name) {
            page += &format!("\n## {title}\n\n| variable | default | meaning |\n|---|---|---|\n");
        }
        let RefOr::T(Schema::Object(schema)) = schema else { anyhow::bail!("{name} is no plain value") };
        let meaning = schema.description.as_deref().with_context(|| format!("{name} has no comment"))?;
        let default = match defaults.get(name).map(ToString::to_string) {
            Some(text) if text != "\"\"" => format!("`{}`", text.trim_matches('"')),
            _ => String::new(),
        };
        page += &format!("| `KNOWHOW_{}` | {default} | {} |\n", name.to_uppercase(), meaning.replace('\n', " "));
    }
    Ok(page)
}

#[cfg(test)]
mod tests;
