//! A fake service that answers a sync with any names and paths.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};

use knowhow_domain::skills::manifest;
use knowhow_domain::{ResourceEntry, SkillId};
use knowhow_testing::{FakeServer, Reply, Seen};
use serde_json::{Value, json};

use super::syncs::document;
use crate::service::{knowhow, scratch};

/// A skill as the fake service returns it.
#[derive(Clone)]
pub struct Given {
    pub id: SkillId,
    pub name: String,
    pub document: String,
    pub files: BTreeMap<String, String>,
}

impl Given {
    pub fn new(name: &str, files: &[&str]) -> Self {
        let files = files.iter().map(|path| ((*path).to_owned(), "OWNED".to_owned())).collect();
        let document = document("any", "OWNED");
        Self { id: SkillId::from(uuid::Uuid::now_v7()), name: name.to_owned(), document, files }
    }

    fn resources(&self) -> Vec<ResourceEntry> {
        let resource = |(path, text): (&String, &String)| ResourceEntry {
            executable: false,
            path: path.clone(),
            media_type: "text/plain".to_owned(),
            size: text.len() as u64,
            digest: manifest::hex(&manifest::digest(text.as_bytes())),
        };
        self.files.iter().map(resource).collect()
    }

    fn digest(&self) -> String {
        manifest::hex(&manifest::state_digest(&manifest::digest(self.document.as_bytes()), &self.resources()))
    }

    fn listed(&self) -> Value {
        let (id, name, digest) = (self.id, &self.name, self.digest());
        json!({ "id": id, "name": name, "version": 1, "digest": digest, "source": "sync", "tainted": false })
    }

    fn peeked(&self) -> Value {
        json!({ "id": self.id, "version": 1, "digest": self.digest(), "resources": self.resources() })
    }

    /// Returns the answer to a request below `/v1/skills/{id}`.
    fn answer(&self, below: &str) -> Option<String> {
        match below {
            "?peek=true" => Some(self.peeked().to_string()),
            "/SKILL.md" => Some(self.document.clone()),
            _ => {
                let path = percent_encoding::percent_decode_str(below.strip_prefix("/resources/")?).decode_utf8_lossy();
                self.files.get(&*path).cloned()
            }
        }
    }
}

/// The fake service and a synced folder, deep inside a folder whose files are compared.
pub struct Faked {
    server: FakeServer,
    skills: Arc<Mutex<Vec<Given>>>,
    around: PathBuf,
    pub home: PathBuf,
}

impl Faked {
    pub fn new(skills: Vec<Given>) -> Self {
        let skills = Arc::new(Mutex::new(skills));
        let given = skills.clone();
        let server = FakeServer::start([Reply::chosen(move |seen| answer(&given.lock().unwrap(), seen))]);
        let around = scratch("faked");
        let home = around.join("a/b/c/folder");
        std::fs::create_dir_all(&home).unwrap();
        for folder in ["a/b/c/.git/hooks", "a/b/.ssh", ".ssh"] {
            std::fs::create_dir_all(around.join(folder)).unwrap();
        }
        Self { server, skills, around, home }
    }

    pub fn gives(&self, skills: Vec<Given>) {
        *self.skills.lock().unwrap() = skills;
    }

    /// Returns a `knowhow sync` command for the fake service and the folder `home`, with `options` appended.
    pub fn command(&self, options: &[&str]) -> std::process::Command {
        let url = self.server.url();
        let url = url.trim_end_matches("/v1");
        let mut command = knowhow(&["sync", self.home.to_str().unwrap(), "--url", url, "--token", "t"]);
        command.args(options);
        command
    }

    pub fn run(&self, options: &[&str]) -> Output {
        self.command(options).output().unwrap()
    }

    /// Returns all files around and inside the folder, except those that `sync` keeps for itself.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        read_all(&self.around, "", &mut files);
        files.retain(|path, _| !path.rsplit('/').next().unwrap().starts_with(".knowhow-sync"));
        files
    }

    /// Returns the received requests that would change data of the service.
    pub fn changes(&self) -> Vec<String> {
        self.server.seen().into_iter().map(|seen| seen.line).filter(|line| !line.starts_with("GET ")).collect()
    }
}

fn answer(skills: &[Given], seen: &Seen) -> Reply {
    let path = seen.line.split(' ').nth(1).unwrap_or_default();
    if path.starts_with("/v1/skills/export/digests") {
        let items: Vec<Value> = skills.iter().map(Given::listed).collect();
        let page = json!({ "tenant": "t", "user": "u", "items": items, "next_cursor": null });
        return Reply::body(&page.to_string());
    }
    let found = skills.iter().find_map(|skill| skill.answer(path.strip_prefix(&format!("/v1/skills/{}", skill.id))?));
    found.map_or(Reply::Status(404, "", "{}"), |text| Reply::body(&text))
}

/// Reads the files by path, and the targets of links.
pub fn read_all(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.insert(format!("{path}/"), Vec::new());
            read_all(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap();
            files.insert(format!("{path} -> {}", target.display()), Vec::new());
        } else if kind.is_file() {
            files.insert(path, std::fs::read(entry.path()).unwrap());
        }
    }
}
