//! The skills of a folder or archive with all their bytes, as an import would send them.

use std::path::Path;

use anyhow::{Result, bail};

use super::kinds::{Kind, Skill};
use super::listing::{LeftOut, Listing};
use super::{list, what_was_looked_for};

/// What there is.
pub(in crate::cli) struct Contents {
    pub(in crate::cli) skills: Vec<Files>,
    /// What an import would leave behind or refuse, by the user's own paths.
    pub(in crate::cli) left_out: Vec<LeftOut>,
}

/// A skill's files.
pub(in crate::cli) struct Files {
    /// Its SKILL.md, as the user would write the path.
    pub(in crate::cli) path: String,
    pub(in crate::cli) document: Vec<u8>,
    pub(in crate::cli) resources: Vec<Resource>,
}

/// A file beside a SKILL.md.
pub(in crate::cli) struct Resource {
    /// Within the skill.
    pub(in crate::cli) path: String,
    /// As the user would write it.
    pub(in crate::cli) shown: String,
    pub(in crate::cli) bytes: Vec<u8>,
}

/// Reads the skills of a folder, an archive or a single file.
///
/// # Errors
/// Where the source cannot be read, or holds no skill. Single files that cannot be read are among what is left out.
pub(in crate::cli) fn read(source: &Path, from: Option<Kind>) -> Result<Contents> {
    let listing = list(source, from)?;
    let kind = from.unwrap_or_else(|| Kind::of(&listing));
    let found = kind.read(&listing);
    if found.skills.is_empty() && found.refused.is_empty() {
        bail!("no skill in {}: {}", source.display(), what_was_looked_for(kind));
    }
    let all = listing.left_out.iter().chain(&found.left_out).chain(&found.refused);
    let mut left_out: Vec<LeftOut> =
        all.map(|file| LeftOut { path: listing.shown(&file.path), reason: file.reason.clone() }).collect();
    let skills = found.skills.iter().filter_map(|skill| read_skill(&listing, skill, &mut left_out)).collect();
    Ok(Contents { skills, left_out })
}

fn read_skill(listing: &Listing, skill: &Skill, left_out: &mut Vec<LeftOut>) -> Option<Files> {
    let mut bytes = |path: &str| match listing.read(path) {
        Ok(bytes) => Some(bytes),
        Err(reason) => {
            left_out.push(LeftOut { path: listing.shown(path), reason });
            None
        }
    };
    let document = match &skill.made {
        Some(text) => text.clone().into_bytes(),
        None => bytes(&skill.path)?,
    };
    let resources = skill.resources.iter().filter_map(|(within, path)| {
        Some(Resource { path: within.clone(), shown: listing.shown(path), bytes: bytes(path)? })
    });
    let resources = resources.collect();
    Some(Files { path: listing.shown(&skill.path), document, resources })
}
