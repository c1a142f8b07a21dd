//! Skills: names, SKILL.md, files, versions, patches and the index.

pub mod document;
pub mod index;
pub mod library;
pub mod manifest;
pub mod name;
pub mod patch;
pub mod resource;
pub mod skill;
pub mod uri;
pub mod version;
