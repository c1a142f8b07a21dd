//! Prepares an upload: reads the skills, repairs them if requested, assigns names and computes digests.

use std::collections::HashSet;

use knowhow_domain::kernel::limits::{SEGMENT_CHARS, SEGMENTS};
use knowhow_domain::skills::{manifest, name};
use knowhow_domain::text::encoding::{CONVERTED, decode_utf16};
use knowhow_domain::{Error, Limits, ResourceEntry, ResourcePath, SkillDocument, SkillName};
use knowhow_ops::skills::archive::{FoundFolder, ImportName, PackedFile, name_all};

use super::kinds::Skill;
use super::listing::Listing;
use super::report::ImportEntry;

/// A skill that is ready for the upload.
pub(crate) struct Ready {
    /// Path of the file that defines the skill.
    pub(crate) path: String,
    pub(crate) name: SkillName,
    pub(crate) document: Vec<u8>,
    /// The other files of the skill, with their paths within the skill.
    pub(crate) resources: Vec<PackedFile>,
    /// True if the source is a single SKILL.md. The upload then keeps the other files of an existing skill.
    pub(crate) is_lone: bool,
    pub(crate) fixes: Vec<String>,
    /// Hex digest of all files in the skill.
    pub(crate) digest: String,
}

#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) ready: Vec<Ready>,
    /// Results of skills that need no request to the service, such as unreadable ones.
    pub(crate) settled: Vec<ImportEntry>,
}

/// Options for reading skills.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) fix: bool,
    pub(crate) prefix: Option<SkillName>,
}

/// Reads and names all skills together, because their names must be unique in the whole import.
pub(crate) fn plan(listing: &Listing, skills: Vec<Skill>, options: &Options) -> Plan {
    let mut plan = Plan::default();
    let mut readable = Vec::new();
    for mut skill in skills {
        let read = read(listing, &skill, options.fix).and_then(|read| named(&mut skill, read, options.fix));
        match read {
            Ok(read) => readable.push((skill, read)),
            Err(reason) => plan.settled.push(ImportEntry::refused(&listing.shown(&skill.path), reason)),
        }
    }
    let found: Vec<FoundFolder<'_>> = readable
        .iter()
        .map(|(skill, read)| FoundFolder { folder: &skill.folder, in_frontmatter: &read.name, digest: read.digest })
        .collect();
    let prefix_segments = options.prefix.as_ref().map_or(0, |prefix| prefix.as_str().split('/').count());
    let names = name_all(&found, SEGMENTS.saturating_sub(prefix_segments));
    let paths: Vec<String> = readable.iter().map(|(skill, _)| listing.shown(&skill.path)).collect();
    let mut taken = HashSet::new();
    for ((index, (skill, read)), named) in readable.into_iter().enumerate().zip(names) {
        let name = named.map_err(|error| error.to_string()).and_then(|named| match named {
            ImportName::As(name) => below(options.prefix.as_ref(), &name).map(Ok),
            ImportName::SameAs(first) => Ok(Err(first)),
        });
        match name {
            Err(reason) => plan.settled.push(ImportEntry::refused(&paths[index], reason)),
            Ok(Err(first)) => plan.settled.push(ImportEntry::duplicate(&paths[index], &paths[first])),
            Ok(Ok(name)) if !taken.insert(name.clone()) => {
                let reason =
                    format!("another skill here is also named '{name}' and differs; rename the folder of one of them");
                plan.settled.push(ImportEntry::refused(&paths[index], reason));
            }
            Ok(Ok(name)) => plan.ready.push(read.into_ready(skill, name, options.prefix.is_some())),
        }
    }
    plan
}

/// Ensures that the folder or the frontmatter states a valid name. With `fix`, an invalid name is changed to a valid
/// spelling.
fn named(skill: &mut Skill, read: ReadSkill, fix: bool) -> Result<ReadSkill, String> {
    let is_name = |text: &str| SkillName::parse(text).is_ok();
    if skill.folder.last().is_some_and(|folder| is_name(folder)) || is_name(&read.name) {
        return Ok(read);
    }
    let spelled = [skill.folder.last(), Some(&read.name)].into_iter().flatten().find_map(|text| name::respell(text));
    match spelled {
        Some(name) if fix => {
            let mut fixes = read.fixes;
            fixes.push(format!("named it '{name}', a valid spelling of the folder's or the frontmatter's name"));
            skill.folder.pop();
            skill.folder.push(name);
            Ok(ReadSkill { fixes, ..read })
        }
        spelled => {
            let cure = if spelled.is_some() { "; --fix derives one" } else { "" };
            Err(format!(
                "neither its folder nor its frontmatter has a valid name: lowercase words joined by '-', at most \
                 {SEGMENT_CHARS} characters{cure}"
            ))
        }
    }
}

fn below(prefix: Option<&SkillName>, name: &SkillName) -> Result<SkillName, String> {
    match prefix {
        Some(prefix) => SkillName::parse(&format!("{prefix}/{name}")).map_err(|error| error.to_string()),
        None => Ok(name.clone()),
    }
}

struct ReadSkill {
    name: String,
    document: Vec<u8>,
    resources: Vec<PackedFile>,
    digest: [u8; 32],
    fixes: Vec<String>,
}

fn read(listing: &Listing, skill: &Skill, fix: bool) -> Result<ReadSkill, String> {
    if let Some(file) = listing.find_missing(&skill.path) {
        return Err(format!("'{}' {}", file.path, file.reason));
    }
    let (raw, converted) = match &skill.made {
        Some(text) => (text.clone(), None),
        None => decode(listing.read(&skill.path)?, fix)?,
    };
    // Documents that were converted from another format are always repaired.
    let fix = fix || skill.made.is_some();
    let (document, mut fixes) = read_document(&raw, skill.folder.last().map(String::as_str), fix)?;
    fixes.splice(0..0, converted);
    let mut resources = Vec::with_capacity(skill.resources.len());
    let mut entries = Vec::with_capacity(skill.resources.len());
    for (within, path) in &skill.resources {
        ResourcePath::parse(within).map_err(|error| format!("'{within}': {error}"))?;
        let (bytes, executable) = (listing.read(path)?, listing.is_executable(path));
        if is_key(within, &bytes) {
            return Err(format!("'{within}' is a private key, which must not leave this machine; move it elsewhere"));
        }
        entries.push(ResourceEntry {
            path: within.clone(),
            executable,
            media_type: String::new(),
            size: bytes.len() as u64,
            digest: manifest::hex(&manifest::digest(&bytes)),
        });
        resources.push(PackedFile { path: within.clone(), bytes, executable });
    }
    let digest = manifest::state_digest(&document.digest(), &entries);
    let name = document.name_in_frontmatter().to_owned();
    Ok(ReadSkill { name, document: document.raw().as_bytes().to_vec(), resources, digest, fixes })
}

/// Checks whether a file is a private key or a store of keys. A page or program that quotes a key is not.
fn is_key(path: &str, bytes: &[u8]) -> bool {
    const NAMES: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    const STORES: [&str; 6] = ["p12", "pfx", "jks", "keystore", "kdbx", "ppk"];
    const KEYS: [&str; 7] = ["", "pem", "key", "asc", "crt", "cer", "p8"];
    let file = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let end = file.rsplit_once('.').map_or("", |(_, end)| end);
    let is_begin = |line: &[u8]| {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
        let label = line.strip_prefix(b"-----BEGIN ").and_then(|label| label.strip_suffix(b"-----"));
        label.is_some_and(|label| label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK"))
    };
    let lines = || bytes.trim_ascii_start().split(|byte| *byte == b'\n');
    let has_key = if KEYS.contains(&end) { lines().any(is_begin) } else { lines().next().is_some_and(is_begin) };
    has_key || NAMES.contains(&file.as_str()) || STORES.contains(&end)
}

/// Decodes the text of a SKILL.md. If it was converted from UTF-16, also returns a sentence about that.
fn decode(bytes: Vec<u8>, fix: bool) -> Result<(String, Option<String>), String> {
    let refused = match String::from_utf8(bytes) {
        Ok(text) => return Ok((text, None)),
        Err(refused) => refused,
    };
    match decode_utf16(refused.as_bytes()) {
        Some(text) if fix => Ok((text, Some(CONVERTED.to_owned()))),
        Some(_) => Err("is UTF-16 text; --fix converts it to UTF-8".to_owned()),
        None => Err(format!("is not UTF-8 text (byte {})", refused.utf8_error().valid_up_to())),
    }
}

fn read_document(raw: &str, folder: Option<&str>, fix: bool) -> Result<(SkillDocument, Vec<String>), String> {
    // The limit on the body is not checked here, because it is a setting of the service.
    let limits = Limits::default().with_unbounded_body();
    let refusal: Error = match SkillDocument::parse_named(raw, &limits) {
        Ok(document) => return Ok((document, Vec::new())),
        Err(refusal) => refusal,
    };
    let mended = SkillDocument::mend(raw, folder)
        .and_then(|mended| Some((SkillDocument::parse_named(&mended.text, &limits).ok()?, mended.what)));
    match mended {
        Some(mended) if fix => Ok(mended),
        Some(_) => Err(format!("{refusal}; --fix repairs it")),
        None => Err(refusal.to_string()),
    }
}

impl ReadSkill {
    fn into_ready(self, skill: Skill, name: SkillName, has_prefix: bool) -> Ready {
        // With a prefix, the name must be stated by a folder.
        let is_lone = skill.folder.is_empty() && self.resources.is_empty() && !has_prefix;
        let digest = manifest::hex(&self.digest);
        let Self { document, resources, fixes, .. } = self;
        Ready { path: skill.path, name, document, resources, is_lone, fixes, digest }
    }
}

impl Ready {
    /// Returns the number of files, including SKILL.md.
    pub(super) fn files(&self) -> usize {
        1 + self.resources.len()
    }

    /// Returns the total size of the files in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.document.len() + self.resources.iter().map(|file| file.bytes.len()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
