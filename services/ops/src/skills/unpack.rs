//! The files of an import: archives unpacked and sorted into skills.

use knowhow_domain::Result;

use super::import_report::LeftOutFile;
use crate::archive::{self, Folder, LeftOut, PROVENANCE_FILE, PackedFile, Provenance};
use crate::examples::{self, EXAMPLES_FILE};

/// A file as it was uploaded.
pub struct Upload {
    /// What the client calls it.
    pub file_name: String,
    /// SKILL.md text, zip, tar or tar.gz.
    pub bytes: Vec<u8>,
}

/// Everything that was uploaded.
#[derive(Default)]
pub(super) struct Unpacked {
    pub(super) skills: Vec<Uploaded>,
    pub(super) strays: Vec<String>,
    pub(super) left_out: Vec<LeftOutFile>,
    pub(super) examples: Vec<PackedFile>,
    pub(super) provenance: Provenance,
}

/// A skill as it was uploaded.
pub(super) struct Uploaded {
    pub(super) folder: Folder,
    /// What of it could not be taken, without which it is not whole.
    pub(super) missing: Option<LeftOut>,
}

/// Unpacks and sorts the uploads.
///
/// # Errors
/// `Invalid` or `TooLarge` for an archive that is not to be opened.
pub(super) fn unpack(uploads: Vec<Upload>) -> Result<Unpacked> {
    let mut all = Unpacked::default();
    // What one archive may hold is what all of them together may hold: many small ones are no way around it.
    let mut left = archive::Limits::default();
    for upload in uploads {
        if archive::is_archive(&upload.bytes) {
            let unpacked = archive::read(&upload.bytes, &left)?;
            left.entries -= unpacked.entries.len();
            left.total_bytes -= unpacked.entries.iter().map(|e| e.bytes.len() as u64).sum::<u64>();
            all.add(unpacked)?;
        } else if upload.file_name.rsplit('/').next() == Some(PROVENANCE_FILE) {
            let mut alone = vec![PackedFile { path: PROVENANCE_FILE.to_owned(), bytes: upload.bytes }];
            all.provenance.extend(Provenance::take(&mut alone)?);
        } else if upload.file_name.rsplit('/').next() == Some(EXAMPLES_FILE) {
            all.examples.push(PackedFile { path: upload.file_name, bytes: upload.bytes });
        } else {
            let path = upload.file_name;
            let folder = Folder { path, folder: Vec::new(), skill_md: upload.bytes, resources: Vec::new() };
            all.skills.push(Uploaded { folder, missing: None });
        }
    }
    Ok(all)
}

impl Unpacked {
    fn add(&mut self, unpacked: archive::Unpacked) -> Result<()> {
        let mut entries = unpacked.entries;
        self.provenance.extend(Provenance::take(&mut entries)?);
        let (examples, entries) = examples::set_apart(entries);
        let grouped = archive::group(entries);
        let mut skills: Vec<Uploaded> =
            grouped.skills.into_iter().map(|folder| Uploaded { folder, missing: None }).collect();
        for file in unpacked.left_out {
            match home_of(&mut skills, &file.path).filter(|_| file.is_missed) {
                Some(skill) => drop(skill.missing.get_or_insert(file)),
                None => self.left_out.push(LeftOutFile { path: file.path, detail: file.detail }),
            }
        }
        let enclosed = grouped.enclosed.into_iter().map(|path| (path, ENCLOSED));
        let hidden = grouped.hidden.into_iter().map(|path| (path, HIDDEN));
        self.left_out.extend(enclosed.chain(hidden).map(|(path, why)| LeftOutFile { path, detail: why.to_owned() }));
        self.examples.extend(examples);
        self.skills.extend(skills);
        self.strays.extend(grouped.strays);
        Ok(())
    }
}

/// Why a SKILL.md among a skill's own files is not taken.
pub const ENCLOSED: &str = "lies among the own files of another skill; move its folder out to import it";

/// Why a hidden file or folder below a skill's folder is not taken.
pub const HIDDEN: &str = "is hidden, and hidden files are not part of a skill";

/// The skill that a file belongs to: the nearest above it.
fn home_of<'a>(skills: &'a mut [Uploaded], path: &str) -> Option<&'a mut Uploaded> {
    let folders: Vec<&str> = path.split('/').collect();
    let above = |skill: &&mut Uploaded| folders[..folders.len() - 1].starts_with(&as_strs(&skill.folder.folder));
    skills.iter_mut().filter(above).max_by_key(|skill| skill.folder.folder.len())
}

fn as_strs(folder: &[String]) -> Vec<&str> {
    folder.iter().map(String::as_str).collect()
}
