//! Unpacks the archives of an import and groups their files into skills.

use knowhow_domain::Result;

use super::import_report::LeftOutFile;
use crate::learning::examples::{self, EXAMPLES_FILE};
use crate::skills::archive::{self, Folder, LeftOut, PROVENANCE_FILE, PackedFile, Provenance};

/// An uploaded file.
#[derive(Clone)]
pub struct Upload {
    /// The file name given by the client.
    pub file_name: String,
    /// Bytes of a SKILL.md, zip, tar or tar.gz.
    pub bytes: Vec<u8>,
}

/// The content of all uploads of an import.
#[derive(Default)]
pub(super) struct UnpackedUploads {
    pub(super) skills: Vec<Uploaded>,
    pub(super) strays: Vec<String>,
    pub(super) left_out: Vec<LeftOutFile>,
    pub(super) examples: Vec<PackedFile>,
    pub(super) provenance: Provenance,
}

/// An uploaded skill.
pub(super) struct Uploaded {
    pub(super) folder: Folder,
    /// A file of the skill that could not be read. The skill is then incomplete and is rejected.
    pub(super) missing: Option<LeftOut>,
}

/// Unpacks and groups the uploads.
///
/// # Errors
/// `Invalid` or `TooLarge` if an archive cannot be opened.
pub(super) fn unpack(uploads: Vec<Upload>, limits: archive::Limits) -> Result<UnpackedUploads> {
    let mut all = UnpackedUploads::default();
    // The limits apply to all archives together, so that many small archives cannot evade them.
    let mut left = limits;
    for upload in uploads {
        if archive::is_archive(&upload.bytes) {
            let unpacked = archive::read(&upload.bytes, &left)?;
            left.entries -= unpacked.entries.len();
            left.total_bytes -= unpacked.written;
            all.add(unpacked)?;
        } else if upload.file_name.rsplit('/').next() == Some(PROVENANCE_FILE) {
            let mut alone = vec![PackedFile::plain(PROVENANCE_FILE, upload.bytes)];
            all.provenance.extend(Provenance::take(&mut alone)?);
        } else if upload.file_name.rsplit('/').next() == Some(EXAMPLES_FILE) {
            all.examples.push(PackedFile::plain(upload.file_name, upload.bytes));
        } else if archive::has_archive_name(&upload.file_name) {
            let detail = format!("is no zip, tar or tar.gz archive{}", archive::describe_content(&upload.bytes));
            let path = upload.file_name;
            let missing = Some(LeftOut { path: path.clone(), detail, is_missed: true });
            let folder = Folder { path, folder: Vec::new(), skill_md: Vec::new(), resources: Vec::new() };
            all.skills.push(Uploaded { folder, missing });
        } else {
            let (path, skill_md) = (upload.file_name, upload.bytes);
            let folder = Folder { path, folder: Vec::new(), skill_md, resources: Vec::new() };
            all.skills.push(Uploaded { folder, missing: None });
        }
    }
    Ok(all)
}

impl UnpackedUploads {
    fn add(&mut self, unpacked: archive::UnpackedArchive) -> Result<()> {
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

/// Reason why a SKILL.md in a resource folder of another skill is not imported.
pub const ENCLOSED: &str = "is in a resource folder of another skill; move its folder out to import it";

/// Reason why a hidden file or folder is not imported.
pub const HIDDEN: &str = "is hidden or was left by an editor, so it is not part of the skill";

/// Returns the skill that a file belongs to: the skill in the nearest folder above the file.
fn home_of<'a>(skills: &'a mut [Uploaded], path: &str) -> Option<&'a mut Uploaded> {
    let folders: Vec<&str> = path.split('/').collect();
    let above = |skill: &&mut Uploaded| folders[..folders.len() - 1].starts_with(&as_strs(&skill.folder.folder));
    skills.iter_mut().filter(above).max_by_key(|skill| skill.folder.folder.len())
}

fn as_strs(folder: &[String]) -> Vec<&str> {
    folder.iter().map(String::as_str).collect()
}
