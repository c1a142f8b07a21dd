//! Reads settings from environment variables. A variable with a name that ends in `_FILE` gives the path of a file
//! with the value.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, anyhow, bail};

use super::Config;

/// Suffixes of `KNOWHOW_` variables that belong to clients and development scripts. They are ignored.
const OTHERS: [&str; 9] = [
    "url",
    "token",
    "api_key",
    "admin_token",
    "tenant_admin_token",
    "login_password",
    "user",
    "existing_api_key",
    "timeout",
];
const OTHER_PREFIXES: [&str; 3] = ["pg_", "test_", "bench_"];

/// Suffix of a variable that names a file with the value of the setting. This is how containers usually get secrets.
const FILE: &str = "_file";

/// Settings by key, and the names of variables that Kubernetes created and that were ignored.
pub(super) type EnvironmentSettings = (toml::Table, Vec<String>);

/// Reads the settings from the environment variables.
pub(super) fn read(environment: BTreeMap<String, String>) -> Result<EnvironmentSettings> {
    let kinds = toml::Table::try_from(Config::default())?;
    let (mut table, mut ignored) = (toml::Table::new(), Vec::new());
    for (name, value) in environment {
        let Some(key) = name.strip_prefix("KNOWHOW_").map(str::to_lowercase) else { continue };
        if OTHERS.contains(&key.as_str()) || OTHER_PREFIXES.iter().any(|p| key.starts_with(p)) {
            continue;
        }
        if is_service_link(&key, &value) {
            ignored.push(name);
            continue;
        }
        let of_file = key.strip_suffix(FILE).filter(|key| kinds.contains_key(*key)).map(str::to_owned);
        let (key, value) = match of_file {
            Some(key) => (key, read_file(&name, &value)?),
            None => (key, value),
        };
        let Some(kind) = kinds.get(&key) else { bail!("{name} is not a setting; see `knowhow config`") };
        let value = typed(&name, kind, value)?;
        check_range(&name, &key, &value)?;
        if table.insert(key.clone(), value).is_some() {
            let setting = key.to_uppercase();
            bail!("set KNOWHOW_{setting} or KNOWHOW_{setting}_FILE, not both");
        }
    }
    Ok((table, ignored))
}

/// Returns whether Kubernetes created the variable because a Service is named `knowhow` or `knowhow-...`. The
/// Kubernetes documentation describes such variables in "Accessing the Service".
fn is_service_link(key: &str, value: &str) -> bool {
    let is_address = ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    let is_numbered_port = key.split("port_").skip(1).any(|rest| {
        let (number, rest) = rest.split_once('_').unwrap_or_default();
        let protocol = rest.split('_').next().unwrap_or_default();
        number.parse::<u16>().is_ok() && ["tcp", "udp", "sctp"].contains(&protocol)
    });
    key.ends_with("service_host")
        || key.ends_with("service_port")
        || key.contains("service_port_")
        || is_address && (key == "port" || key.ends_with("_port"))
        || is_numbered_port
}

/// Reads a file. Removes one line break at its end, which editors and `echo` add.
pub(super) fn read_file(name: &str, path: &str) -> Result<String> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read the file of {name}, {path}"))?;
    Ok(text.strip_suffix('\n').map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line)).to_owned())
}

fn typed(name: &str, kind: &toml::Value, value: String) -> Result<toml::Value> {
    let kinds = match kind {
        toml::Value::Integer(_) => "a whole number",
        _ => "true or false",
    };
    let wrong = || format!("{name} must be {kinds}, is '{value}'");
    Ok(match kind {
        toml::Value::Integer(_) => toml::Value::Integer(value.parse().with_context(wrong)?),
        toml::Value::Boolean(_) => toml::Value::Boolean(value.parse().with_context(wrong)?),
        _ => toml::Value::String(value),
    })
}

/// Checks that the type of the setting can represent the value. Each variable is checked by itself, because an error
/// about the whole table would not name the variable.
fn check_range(name: &str, key: &str, value: &toml::Value) -> Result<()> {
    let alone = toml::Table::from_iter([(key.to_owned(), value.clone())]);
    let fits = toml::Value::Table(alone).try_into::<Config>();
    fits.map(drop).map_err(|error| {
        let message = error.to_string();
        let range =
            [("u16", "from 0 to 65535"), ("u32", "from 0 to 4294967295"), ("u64", "0 or more"), ("usize", "0 or more")];
        let range = range.into_iter().find(|(kind, _)| message.contains(&format!("expected {kind}")));
        match range {
            Some((_, range)) => anyhow!("{name} must be a whole number {range}, is '{value}'"),
            None => error.into(),
        }
    })
}

#[cfg(test)]
mod tests;
