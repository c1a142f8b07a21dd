//! What is to be sent: skills read, mended where that is asked for, named together and digested.

use std::collections::HashSet;

use knowhow_domain::limits::{SEGMENT_CHARS, SEGMENTS};
use knowhow_domain::{Error, Limits, ResourceEntry, ResourcePath, SkillDocument, SkillName, manifest, name};
use knowhow_ops::archive::{FoundFolder, Named, name_all};

use super::kinds::Skill;
use super::listing::Listing;
use super::report::Entry;

/// A skill that can be sent.
pub(in crate::cli) struct Ready {
    /// The file that it was found by.
    pub(in crate::cli) path: String,
    pub(in crate::cli) name: SkillName,
    pub(in crate::cli) document: Vec<u8>,
    /// Its other files by their paths within the skill.
    pub(in crate::cli) resources: Vec<(String, Vec<u8>)>,
    /// A lone SKILL.md says nothing of other files: those that the user's skill has stay.
    pub(in crate::cli) is_lone: bool,
    pub(in crate::cli) fixes: Vec<String>,
    /// The identity of all its files, hex.
    pub(in crate::cli) digest: String,
}

#[derive(Default)]
pub(in crate::cli) struct Plan {
    pub(in crate::cli) ready: Vec<Ready>,
    /// Those that are settled without the service.
    pub(in crate::cli) settled: Vec<Entry>,
}

/// How to read skills.
#[derive(Default)]
pub(in crate::cli) struct Options {
    pub(in crate::cli) fix: bool,
    pub(in crate::cli) prefix: Option<SkillName>,
}

/// Reads and names all skills together: a portion alone would not show which names are taken.
pub(in crate::cli) fn plan(listing: &Listing, skills: Vec<Skill>, options: &Options) -> Plan {
    let mut plan = Plan::default();
    let mut readable = Vec::new();
    for mut skill in skills {
        let read = read(listing, &skill, options.fix).and_then(|read| named(&mut skill, read, options.fix));
        match read {
            Ok(read) => readable.push((skill, read)),
            Err(reason) => plan.settled.push(Entry::refused(&listing.shown(&skill.path), reason)),
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
            Named::As(name) => below(options.prefix.as_ref(), &name).map(Ok),
            Named::SameAs(first) => Ok(Err(first)),
        });
        match name {
            Err(reason) => plan.settled.push(Entry::refused(&paths[index], reason)),
            Ok(Err(first)) => plan.settled.push(Entry::duplicate(&paths[index], &paths[first])),
            Ok(Ok(name)) if !taken.insert(name.clone()) => {
                let reason =
                    format!("another skill here is '{name}' too and differs; rename the folder of one of them");
                plan.settled.push(Entry::refused(&paths[index], reason));
            }
            Ok(Ok(name)) => plan.ready.push(read.into_ready(skill, name, options.prefix.is_some())),
        }
    }
    plan
}

/// Sees to it that the folder or the frontmatter has a name, if need be by spelling the folder's own in a valid way.
fn named(skill: &mut Skill, read: Read, fix: bool) -> Result<Read, String> {
    let is_name = |text: &str| SkillName::parse(text).is_ok();
    if skill.folder.last().is_some_and(|folder| is_name(folder)) || is_name(&read.name) {
        return Ok(read);
    }
    let spelled = [skill.folder.last(), Some(&read.name)].into_iter().flatten().find_map(|text| spell(text));
    match spelled {
        Some(name) if fix => {
            let mut fixes = read.fixes;
            fixes.push(format!(
                "called it '{name}', which is the folder's or the frontmatter's name in a valid spelling"
            ));
            skill.folder.pop();
            skill.folder.push(name);
            Ok(Read { fixes, ..read })
        }
        spelled => {
            let cure = if spelled.is_some() { "; --fix spells one" } else { "" };
            Err(format!(
                "neither its folder nor its frontmatter has a valid name: lowercase words joined by '-', at most \
                 {SEGMENT_CHARS} characters{cure}"
            ))
        }
    }
}

/// The valid spelling of a name; of one that is too long, of as many words as fit.
fn spell(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    (1..=words.len()).rev().find_map(|count| name::respell(&words[..count].join("-")))
}

fn below(prefix: Option<&SkillName>, name: &SkillName) -> Result<SkillName, String> {
    match prefix {
        Some(prefix) => SkillName::parse(&format!("{prefix}/{name}")).map_err(|error| error.to_string()),
        None => Ok(name.clone()),
    }
}

struct Read {
    name: String,
    document: Vec<u8>,
    resources: Vec<(String, Vec<u8>)>,
    digest: [u8; 32],
    fixes: Vec<String>,
}

fn read(listing: &Listing, skill: &Skill, fix: bool) -> Result<Read, String> {
    let raw = match &skill.made {
        Some(text) => text.clone(),
        None => String::from_utf8(listing.read(&skill.path)?)
            .map_err(|error| format!("is not UTF-8 text (byte {})", error.utf8_error().valid_up_to()))?,
    };
    // What was made here from something else is ours to get right.
    let fix = fix || skill.made.is_some();
    let (document, fixes) = read_document(&raw, skill.folder.last().map(String::as_str), fix)?;
    let mut resources = Vec::with_capacity(skill.resources.len());
    let mut entries = Vec::with_capacity(skill.resources.len());
    for (within, path) in &skill.resources {
        ResourcePath::parse_imported(within).map_err(|error| format!("'{within}': {error}"))?;
        let bytes = listing.read(path)?;
        entries.push(ResourceEntry {
            path: within.clone(),
            media_type: String::new(),
            size: bytes.len() as u64,
            digest: manifest::hex(&manifest::digest(&bytes)),
        });
        resources.push((within.clone(), bytes));
    }
    let digest = manifest::state_digest(&document.digest(), &entries);
    let name = document.name_in_frontmatter().to_owned();
    Ok(Read { name, document: document.raw().as_bytes().to_vec(), resources, digest, fixes })
}

fn read_document(raw: &str, folder: Option<&str>, fix: bool) -> Result<(SkillDocument, Vec<String>), String> {
    // The service knows how large a body may be.
    let limits = Limits::default().with_unbounded_body();
    let refusal: Error = match SkillDocument::parse_named(raw, &limits) {
        Ok(document) => return Ok((document, Vec::new())),
        Err(refusal) => refusal,
    };
    let mended = SkillDocument::mend(raw, folder)
        .and_then(|mended| Some((SkillDocument::parse_named(&mended.text, &limits).ok()?, mended.what)));
    match mended {
        Some(mended) if fix => Ok(mended),
        Some(_) => Err(format!("{refusal}; --fix mends it")),
        None => Err(refusal.to_string()),
    }
}

impl Read {
    fn into_ready(self, skill: Skill, name: SkillName, has_prefix: bool) -> Ready {
        // A prefix takes a folder to say it.
        let is_lone = skill.folder.is_empty() && self.resources.is_empty() && !has_prefix;
        let digest = manifest::hex(&self.digest);
        let Self { document, resources, fixes, .. } = self;
        Ready { path: skill.path, name, document, resources, is_lone, fixes, digest }
    }
}

impl Ready {
    /// How many files it has.
    pub(super) fn files(&self) -> usize {
        1 + self.resources.len()
    }

    /// How many bytes they have.
    pub(super) fn bytes(&self) -> usize {
        self.document.len() + self.resources.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
