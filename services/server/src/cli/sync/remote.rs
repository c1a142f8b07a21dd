//! The user's skills in the service, as far as a folder has brought them.

use std::collections::BTreeMap;

use knowhow_domain::{ResourceEntry, ResourcePath, SkillId, SkillName, manifest};
use knowhow_ops::skills::DigestPage;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::decide::Files;
use super::folder::DOCUMENT;
use crate::cli::client::{Bounds, Refusal, Service};

/// The code of a refusal of a name or path that the service gave.
pub(super) const UNSAFE: &str = "unsafe-path";
/// What stays as it is in the path of a URL.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// Most bytes of the list of skills, which is held in memory: 300,000 skills and more.
const MOST_LISTED: u64 = 128 << 20;
/// Most files of one skill, and most bytes of them together: several times the limits of a service.
const MOST_FILES: usize = 1_000;
const MOST_BYTES: u64 = 64 << 20;

/// The skills that a folder has brought.
pub(super) struct Listed {
    /// Where they are, and whose.
    pub(super) of: String,
    /// By name.
    pub(super) skills: BTreeMap<String, There>,
}

/// A skill of the service.
#[derive(Debug, Clone)]
pub(super) struct There {
    pub(super) id: SkillId,
    pub(super) version: i32,
    /// Of all its files.
    pub(super) digest: String,
    pub(super) tainted: bool,
}

/// A skill of the service with its text. Its other files are read as they are needed.
pub(super) struct Whole {
    pub(super) id: SkillId,
    pub(super) version: i32,
    pub(super) digest: String,
    pub(super) document: Vec<u8>,
    pub(super) files: Files,
    /// Sizes of its other files, in bytes.
    sizes: BTreeMap<String, u64>,
}

/// A skill's version, digest and files.
#[derive(Deserialize)]
pub(super) struct Peeked {
    id: SkillId,
    pub(super) version: i32,
    pub(super) digest: String,
    resources: Vec<ResourceEntry>,
}

impl Peeked {
    /// Refuses paths that the service itself would refuse, before any file is written.
    ///
    /// # Errors
    /// Names the path and the rule.
    pub(super) fn check_paths(&self, name: &str) -> Result<(), Refusal> {
        self.resources.iter().try_for_each(|file| {
            ResourcePath::parse_imported(&file.path).map(drop).map_err(|error| {
                let what = format!("a file '{}' of the skill '{name}'", quoted(&file.path));
                unsafe_to_write(&what, &error)
            })
        })
    }
}

/// Lists what the user has from folders, where its name begins with `prefix`.
///
/// # Errors
/// What the service refuses; also if a name is none that a service takes.
pub(super) async fn list(service: &Service, prefix: &str) -> Result<Listed, Refusal> {
    let mut listed = Listed { of: String::new(), skills: BTreeMap::new() };
    let mut pages = service.pages("/v1/skills/export/digests?source=sync");
    while let Some(page) = pages.next::<DigestPage>(Bounds::JSON).await? {
        if pages.bytes() > MOST_LISTED {
            return Err(Refusal::because(format!("the list of skills has more than {MOST_LISTED} bytes, the limit")));
        }
        listed.of = format!("{}/{}/{}", service.url(), page.tenant, page.user);
        for item in page.items {
            let what = || format!("a skill '{}'", quoted(&item.name));
            SkillName::parse(&item.name).map_err(|error| unsafe_to_write(&what(), &error))?;
            if !item.name.starts_with(prefix) {
                continue;
            }
            let there = There { id: item.id, version: item.version, digest: item.digest, tainted: item.tainted };
            listed.skills.insert(item.name, there);
        }
    }
    Ok(listed)
}

/// Reads what a skill is made of.
///
/// # Errors
/// What the service refuses.
pub(super) async fn peek(service: &Service, id: SkillId) -> Result<Peeked, Refusal> {
    read(service, &format!("/v1/skills/{id}?peek=true")).await
}

/// Reads a skill's text.
///
/// # Errors
/// What the service refuses; also if the skill has changed since it was looked at.
pub(super) async fn read_whole(service: &Service, skill: Peeked) -> Result<Whole, Refusal> {
    let id = skill.id;
    let document = read_bytes(service, &format!("/v1/skills/{id}/{DOCUMENT}"), Bounds::DOCUMENT).await?;
    let sizes: BTreeMap<String, u64> = skill.resources.iter().map(|file| (file.path.clone(), file.size)).collect();
    if sizes.len() > MOST_FILES || sizes.values().fold(0, |sum: u64, size| sum.saturating_add(*size)) > MOST_BYTES {
        return Err(too_large());
    }
    let own = manifest::digest(&document);
    if manifest::hex(&manifest::state_digest(&own, &skill.resources)) != skill.digest {
        return Err(changing());
    }
    let resources = skill.resources.into_iter().map(|file| (file.path, file.digest));
    let files = resources.chain([(DOCUMENT.to_owned(), manifest::hex(&own))]).collect();
    Ok(Whole { id, version: skill.version, digest: skill.digest, document, files, sizes })
}

/// Reads one of a skill's other files.
///
/// # Errors
/// As [`read_whole`].
pub(super) async fn read_resource(service: &Service, whole: &Whole, path: &str) -> Result<Vec<u8>, Refusal> {
    let encoded = utf8_percent_encode(path, IN_PATH);
    let size = Bounds::brief(whole.sizes.get(path).copied().unwrap_or_default());
    let bytes = read_bytes(service, &format!("/v1/skills/{}/resources/{encoded}", whole.id), size).await?;
    let is_same = whole.files.get(path) == Some(&manifest::hex(&manifest::digest(&bytes)));
    if is_same { Ok(bytes) } else { Err(changing()) }
}

/// Deletes a skill that is at this version.
///
/// # Errors
/// What the service refuses, `version-conflict` where the skill has another version by now.
pub(super) async fn delete(service: &Service, there: &There) -> Result<(), Refusal> {
    let path = format!("/v1/skills/{}", there.id);
    let version = format!("\"{}\"", there.version);
    service.send(|service| service.request(Method::DELETE, &path).header("If-Match", &version)).await?;
    Ok(())
}

async fn read<T: DeserializeOwned>(service: &Service, path: &str) -> Result<T, Refusal> {
    service.send(|service| service.request(Method::GET, path)).await?.json(Bounds::JSON).await
}

async fn read_bytes(service: &Service, path: &str, bounds: Bounds) -> Result<Vec<u8>, Refusal> {
    service.send(|service| service.request(Method::GET, path)).await?.bytes(bounds).await
}

fn too_large() -> Refusal {
    let detail =
        format!("it has more than {MOST_FILES} files or {MOST_BYTES} bytes, which no service of this version stores");
    Refusal { status: Some(reqwest::StatusCode::PAYLOAD_TOO_LARGE), code: "too-large".to_owned(), detail }
}

/// Refuses a name or path that no service of Knowhow gives.
fn unsafe_to_write(what: &str, error: &knowhow_domain::Error) -> Refusal {
    let detail = format!(
        "the service has {what}, which must not be written: {error}. Nothing was written; rename or delete it in the service"
    );
    Refusal { status: None, code: UNSAFE.to_owned(), detail }
}

/// Shows a text of the service in visible ASCII, cut short.
fn quoted(text: &str) -> String {
    text.chars().take(200).flat_map(char::escape_default).collect()
}

fn changing() -> Refusal {
    let detail = "it changed while it was read; the next sync takes it".to_owned();
    Refusal { status: Some(reqwest::StatusCode::CONFLICT), code: "changing".to_owned(), detail }
}
