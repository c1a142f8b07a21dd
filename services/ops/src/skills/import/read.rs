//! Reads a skill that was uploaded: its SKILL.md, mended where that is asked for, and the files beside it.

use knowhow_domain::scanner::Scan;
use knowhow_domain::{Error, Limits, ResourceEntry, ResourcePath, Result, SkillDocument, SkillName, manifest};
use knowhow_store::skills::Locked;

use super::ImportSource;
use crate::archive::Provenance;
use crate::skills::draft::Draft;
use crate::skills::unpack::Uploaded;

/// Whether to mend what can be mended, and what the archives say of where their texts come from.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) fix: bool,
    pub(super) provenance: &'a Provenance,
}

/// A skill that can be written.
pub(in crate::skills) struct Readable {
    pub(super) folder: Vec<String>,
    pub(in crate::skills) document: SkillDocument,
    /// `None` for a lone SKILL.md, which leaves the resources of an existing skill alone.
    pub(in crate::skills) resources: Option<Vec<(ResourceEntry, Vec<u8>)>>,
    pub(in crate::skills) fixes: Vec<String>,
    /// What the archive says that it is tainted by.
    tainted_by: Option<Vec<String>>,
    /// What the scanner says, where all files are known.
    pub(super) scan: Option<Scan>,
}

impl Readable {
    /// The identity of all its files.
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

pub(super) fn read(limits: &Limits, skill: Uploaded, how: How<'_>) -> Result<Readable> {
    let Uploaded { folder, missing } = skill;
    if let Some(file) = missing {
        return Err(Error::invalid("/file", format!("'{}' {}", file.path, file.detail)));
    }
    let tainted_by = how.provenance.find(&folder.path, &folder.skill_md);
    let lone = folder.folder.is_empty() && folder.resources.is_empty();
    let raw = String::from_utf8(folder.skill_md).map_err(|e| {
        Error::invalid("/skill_md", format!("is not UTF-8 text (byte {})", e.utf8_error().valid_up_to()))
    })?;
    let (document, fixes) = read_document(limits, &raw, folder.folder.last().map(String::as_str), how.fix)?;
    let resources =
        folder.resources.into_iter().map(|(path, bytes)| resource(&path, bytes)).collect::<Result<Vec<_>>>()?;
    Ok(Readable {
        folder: folder.folder,
        document,
        resources: (!lone).then_some(resources),
        fixes,
        tainted_by,
        scan: None,
    })
}

/// The document, mended where that is asked for; else the refusal says that it could be.
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
                first.detail.push_str("; fix=true mends it");
            }
            Err(Error::Invalid(findings))
        }
        (false, _, refusal) => Err(refusal),
    }
}

fn resource(path: &str, bytes: Vec<u8>) -> Result<(ResourceEntry, Vec<u8>)> {
    let path = ResourcePath::parse_imported(path)?;
    let entry = ResourceEntry {
        media_type: path.media_type().to_owned(),
        size: bytes.len() as u64,
        digest: manifest::hex(&manifest::digest(&bytes)),
        path: path.as_str().to_owned(),
    };
    Ok((entry, bytes))
}
