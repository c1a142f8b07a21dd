//! Reads a skill that was uploaded: its SKILL.md, mended where that is asked for, and the files beside it.

use knowhow_domain::{Error, Limits, ResourceEntry, ResourcePath, Result, SkillDocument, manifest};

use super::Readable;
use crate::archive::Provenance;
use crate::skills::unpack::Uploaded;

/// Whether to mend what can be mended, and what the archives say of where their texts come from.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) fix: bool,
    pub(super) provenance: &'a Provenance,
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
