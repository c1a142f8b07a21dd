//! Reads an uploaded skill: its SKILL.md, repaired on request, and its resources.

use knowhow_domain::review::scanner::Scan;
use knowhow_domain::skills::manifest;
use knowhow_domain::text::encoding::{CONVERTED, decode_utf16};
use knowhow_domain::{Error, Limits, ResourceEntry, ResourcePath, Result, SkillDocument, SkillName};
use knowhow_store::skills::Locked;

use crate::change::draft::Draft;
use crate::skills::archive::{PackedFile, Provenance};
use crate::skills::import_source::ImportSource;
use crate::skills::unpack::Uploaded;

/// Options for reading skills: whether to repair frontmatter, and the provenance recorded in the archives.
#[derive(Clone, Copy)]
pub(super) struct ReadOptions<'a> {
    pub(super) fix: bool,
    pub(super) provenance: &'a Provenance,
}

/// A valid skill to import.
pub(in crate::skills) struct Readable {
    pub(super) folder: Vec<String>,
    pub(in crate::skills) document: SkillDocument,
    /// The resources; `None` if a SKILL.md was uploaded without a folder, so that an existing skill keeps its
    /// resources.
    pub(in crate::skills) resources: Option<Vec<(ResourceEntry, Vec<u8>)>>,
    pub(in crate::skills) fixes: Vec<String>,
    /// Sources of taint that the archive recorded; `None` if it does not list the skill as tainted.
    tainted_by: Option<Vec<String>>,
    /// The scanner's result; `None` if the skill was not scanned or resources are missing.
    pub(super) scan: Option<Scan>,
}

impl Readable {
    /// Returns the digest of SKILL.md and all resources.
    pub(in crate::skills) fn digest(&self) -> [u8; 32] {
        let entries: Vec<ResourceEntry> = self.resources.iter().flatten().map(|(entry, _)| entry.clone()).collect();
        manifest::state_digest(&self.document.digest(), &entries)
    }

    pub(in crate::skills) fn draft(&self, source: ImportSource, name: &SkillName, current: Option<&Locked>) -> Draft {
        let (resources, new_files) = match (&self.resources, current) {
            (Some(resources), _) => resources.iter().cloned().unzip(),
            (None, Some(current)) => (current.skill.resources.clone(), Vec::new()),
            (None, None) => (Vec::new(), Vec::new()),
        };
        let draft = Draft::new(source.change(), name.clone(), self.document.clone());
        Draft { resources, new_files, brought: self.tainted_by.clone(), scan: self.scan.clone(), ..draft }
    }
}

pub(super) fn read(limits: &Limits, skill: Uploaded, options: ReadOptions<'_>) -> Result<Readable> {
    let Uploaded { folder, missing } = skill;
    if let Some(file) = missing {
        return Err(Error::invalid("/file", format!("'{}' {}", file.path, file.detail)));
    }
    let tainted_by = options.provenance.find(&folder.path, &folder.skill_md);
    let lone = folder.folder.is_empty() && folder.resources.is_empty();
    let (raw, converted) = decode(folder.skill_md, options.fix)?;
    let (document, mut fixes) = read_document(limits, &raw, folder.folder.last().map(String::as_str), options.fix)?;
    fixes.splice(0..0, converted);
    let resources = folder.resources.into_iter().map(resource).collect::<Result<Vec<_>>>()?;
    Ok(Readable {
        folder: folder.folder,
        document,
        resources: (!lone).then_some(resources),
        fixes,
        tainted_by,
        scan: None,
    })
}

/// Returns the text of a SKILL.md. If it was converted from UTF-16, also returns a sentence that reports this.
fn decode(bytes: Vec<u8>, fix: bool) -> Result<(String, Option<String>)> {
    let refused = match String::from_utf8(bytes) {
        Ok(text) => return Ok((text, None)),
        Err(refused) => refused,
    };
    match decode_utf16(refused.as_bytes()) {
        Some(text) if fix => Ok((text, Some(CONVERTED.to_owned()))),
        Some(_) => Err(Error::invalid("/skill_md", "is UTF-16 text; fix=true converts it to UTF-8")),
        None => {
            let at = refused.utf8_error().valid_up_to();
            Err(Error::invalid("/skill_md", format!("is not UTF-8 text (byte {at})")))
        }
    }
}

/// Parses a SKILL.md, and repairs it if `fix` is set. Otherwise the error mentions `fix=true` if a repair would
/// succeed.
fn read_document(limits: &Limits, raw: &str, folder: Option<&str>, fix: bool) -> Result<(SkillDocument, Vec<String>)> {
    let refusal = match SkillDocument::parse_named(raw, limits) {
        Ok(document) => return Ok((document, Vec::new())),
        Err(refusal) => refusal,
    };
    let Some(mended) = SkillDocument::mend(raw, folder) else { return Err(refusal) };
    let document = SkillDocument::parse_named(&mended.text, limits);
    match (fix, document, refusal) {
        (true, document, _) => Ok((document?, mended.what)),
        (false, Ok(_), Error::Invalid(mut findings)) => {
            if let Some(first) = findings.first_mut() {
                first.detail.push_str("; fix=true repairs it");
            }
            Err(Error::Invalid(findings))
        }
        (false, _, refusal) => Err(refusal),
    }
}

fn resource(file: PackedFile) -> Result<(ResourceEntry, Vec<u8>)> {
    let PackedFile { path, bytes, executable } = file;
    let path = ResourcePath::parse(&path)?;
    let entry = ResourceEntry {
        media_type: path.media_type().to_owned(),
        size: bytes.len() as u64,
        digest: manifest::hex(&manifest::digest(&bytes)),
        path: path.as_str().to_owned(),
        executable,
    };
    Ok((entry, bytes))
}
