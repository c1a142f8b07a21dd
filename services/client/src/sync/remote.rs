//! Reads the user's skills in the service, as far as a sync created them.

use std::collections::BTreeMap;

use knowhow_domain::skills::manifest;
use knowhow_domain::{ResourceEntry, ResourcePath, SkillId, SkillName};
use knowhow_ops::skills::DigestPage;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::decide::{FileDigests, marked_digest, split_digest};
use super::folder::DOCUMENT;
use crate::service::{Bounds, Service, ServiceError};

/// Error code for an unsafe name or path from the service.
pub(super) const UNSAFE: &str = "unsafe-path";
/// Characters that are not percent-encoded in the path of a URL.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// Maximum size of the list of skills in bytes; it is held in memory. This is enough for 300,000 skills.
const MOST_LISTED: u64 = 128 << 20;
/// Maximum number of files in one skill, several times the service's limit.
const MOST_FILES: usize = 1_000;
/// Maximum total size of one skill's files in bytes, several times the service's limit.
const MOST_BYTES: u64 = 64 << 20;

/// The user's skills in the service that a sync created.
pub(super) struct ServiceSkills {
    /// Identifies the owner of the skills: URL of the service, tenant and user.
    pub(super) of: String,
    /// The skills, by name.
    pub(super) skills: BTreeMap<String, ServiceSkill>,
}

/// A skill in the service, without its files.
#[derive(Debug, Clone)]
pub(super) struct ServiceSkill {
    pub(super) id: SkillId,
    pub(super) version: i32,
    /// Digest of all files of the skill.
    pub(super) digest: String,
    pub(super) tainted: bool,
}

/// A skill in the service with its SKILL.md. The other files are read on demand.
pub(super) struct FullSkill {
    pub(super) id: SkillId,
    pub(super) version: i32,
    pub(super) digest: String,
    pub(super) document: Vec<u8>,
    pub(super) files: FileDigests,
    /// Sizes of the other files in bytes, by path.
    sizes: BTreeMap<String, u64>,
}

impl FullSkill {
    /// Returns whether a file is executable. Returns `None` for SKILL.md, which has no such mode.
    pub(super) fn mode_of(&self, path: &str) -> Option<bool> {
        self.files.get(path).filter(|_| path != DOCUMENT).map(|marked| split_digest(marked).1)
    }
}

/// The version, the digest and the list of files in a skill.
#[derive(Deserialize)]
pub(super) struct SkillHead {
    id: SkillId,
    pub(super) version: i32,
    pub(super) digest: String,
    resources: Vec<ResourceEntry>,
}

impl SkillHead {
    /// Rejects paths that the service itself would reject. This is called before any file is written.
    ///
    /// # Errors
    /// Fails with the path and the violated rule.
    pub(super) fn check_paths(&self, name: &str) -> Result<(), ServiceError> {
        self.resources.iter().try_for_each(|file| {
            ResourcePath::parse(&file.path).map(drop).map_err(|error| {
                let what = format!("a file '{}' of the skill '{name}'", quoted(&file.path));
                unsafe_to_write(&what, &error)
            })
        })
    }
}

/// Lists the user's synced skills that have a name with this prefix.
///
/// # Errors
/// Fails with the service's error, or for a name that the service itself would reject.
pub(super) async fn list(service: &Service, prefix: &str) -> Result<ServiceSkills, ServiceError> {
    let mut listed = ServiceSkills { of: String::new(), skills: BTreeMap::new() };
    let mut pages = service.pages("/v1/skills/export/digests?source=sync");
    while let Some(page) = pages.next::<DigestPage>(Bounds::JSON).await? {
        if pages.bytes() > MOST_LISTED {
            return Err(ServiceError::because(format!(
                "the list of skills has more than {MOST_LISTED} bytes, the limit"
            )));
        }
        listed.of = format!("{}/{}/{}", service.url(), page.tenant, page.user);
        for item in page.items {
            let what = || format!("a skill '{}'", quoted(&item.name));
            SkillName::parse(&item.name).map_err(|error| unsafe_to_write(&what(), &error))?;
            if !item.name.starts_with(prefix) {
                continue;
            }
            let there = ServiceSkill { id: item.id, version: item.version, digest: item.digest, tainted: item.tainted };
            listed.skills.insert(item.name, there);
        }
    }
    Ok(listed)
}

/// Reads the version, the digest and the list of files in a skill.
pub(super) async fn peek(service: &Service, id: SkillId) -> Result<SkillHead, ServiceError> {
    read(service, &format!("/v1/skills/{id}?peek=true")).await
}

/// Reads the SKILL.md of a skill.
///
/// # Errors
/// Fails with the service's error, or if the skill changed since it was listed.
pub(super) async fn read_whole(service: &Service, skill: SkillHead) -> Result<FullSkill, ServiceError> {
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
    let resources = skill.resources.into_iter().map(|file| (file.path, marked_digest(file.digest, file.executable)));
    let files = resources.chain([(DOCUMENT.to_owned(), manifest::hex(&own))]).collect();
    Ok(FullSkill { id, version: skill.version, digest: skill.digest, document, files, sizes })
}

/// Reads one of the other files of a skill.
///
/// # Errors
/// Fails like [`read_whole`].
pub(super) async fn read_resource(service: &Service, whole: &FullSkill, path: &str) -> Result<Vec<u8>, ServiceError> {
    let encoded = utf8_percent_encode(path, IN_PATH);
    let size = Bounds::brief(whole.sizes.get(path).copied().unwrap_or_default());
    let bytes = read_bytes(service, &format!("/v1/skills/{}/resources/{encoded}", whole.id), size).await?;
    let known = whole.files.get(path).map(|marked| split_digest(marked).0);
    let is_same = known == Some(&manifest::hex(&manifest::digest(&bytes)));
    if is_same { Ok(bytes) } else { Err(changing()) }
}

/// Deletes a skill if its version has not changed.
///
/// # Errors
/// Fails with the service's error, which is `version-conflict` if the version has changed.
pub(super) async fn delete(service: &Service, there: &ServiceSkill) -> Result<(), ServiceError> {
    let path = format!("/v1/skills/{}", there.id);
    let version = format!("\"{}\"", there.version);
    service.send(|service| service.request(Method::DELETE, &path).header("If-Match", &version)).await?;
    Ok(())
}

async fn read<T: DeserializeOwned>(service: &Service, path: &str) -> Result<T, ServiceError> {
    service.send(|service| service.request(Method::GET, path)).await?.json(Bounds::JSON).await
}

async fn read_bytes(service: &Service, path: &str, bounds: Bounds) -> Result<Vec<u8>, ServiceError> {
    service.send(|service| service.request(Method::GET, path)).await?.bytes(bounds).await
}

fn too_large() -> ServiceError {
    let detail = format!(
        "it has more than {MOST_FILES} files or {MOST_BYTES} bytes, more than a service of this version stores"
    );
    ServiceError { status: Some(reqwest::StatusCode::PAYLOAD_TOO_LARGE), code: "too-large".to_owned(), detail }
}

/// Creates the error for an unsafe name or path from the service.
fn unsafe_to_write(what: &str, error: &knowhow_domain::Error) -> ServiceError {
    let detail = format!(
        "the service has {what}, which is unsafe to write: {error}. No file was written; rename or delete it in the \
         service"
    );
    ServiceError { status: None, code: UNSAFE.to_owned(), detail }
}

/// Truncates a text from the service to 200 characters, and escapes it as ASCII.
fn quoted(text: &str) -> String {
    text.chars().take(200).flat_map(char::escape_default).collect()
}

fn changing() -> ServiceError {
    let detail = "it changed while it was read; the next sync fetches it".to_owned();
    ServiceError { status: Some(reqwest::StatusCode::CONFLICT), code: "changing".to_owned(), detail }
}
