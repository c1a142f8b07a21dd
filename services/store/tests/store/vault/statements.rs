//! Rules for SQL statements: each statement is in the store crate, has a name by which its line can be found, and
//! names the owner of its rows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files with statements that name no owner: statements across tenants, with the reason at the head of the file, and
/// statements about roles and migrations.
const ABOVE_TENANTS: &[&str] = &["src/across/", "src/deployment/boot", "src/deployment/migrate.rs"];

/// An SQL statement found in the sources of the store crate.
pub struct Statement {
    file: PathBuf,
    /// Text of the statement.
    pub sql: String,
}

impl Statement {
    fn first_line(&self) -> &str {
        self.sql.lines().next().unwrap_or_default()
    }

    /// Returns the name, `module.function`.
    pub fn name(&self) -> &str {
        self.first_line().trim_start_matches("-- ").split(' ').next().unwrap_or_default()
    }

    /// Returns whether the statement runs across tenants, with the role for that.
    pub fn is_across(&self) -> bool {
        self.file.to_string_lossy().contains("src/across/")
    }

    /// Returns whether the statement may omit the owner: because of its file, or with a reason in parentheses in its
    /// first line.
    pub fn is_excused(&self) -> bool {
        let file = self.file.to_string_lossy();
        ABOVE_TENANTS.iter().any(|above| file.contains(above))
            || (self.first_line().contains('(') && self.first_line().ends_with(')'))
    }

    /// Returns the words and signs of the body.
    fn tokens(&self) -> Vec<String> {
        let body: String = self.sql.lines().skip(1).map(|line| format!("{line}\n")).collect();
        let mut tokens = vec![String::new()];
        for c in body.chars() {
            let word = c.is_alphanumeric() || "_$.".contains(c);
            if !word || !tokens.last().is_some_and(|t| t.starts_with(|c: char| c.is_alphanumeric() || "_$".contains(c)))
            {
                tokens.push(String::new());
            }
            if !c.is_whitespace() {
                tokens.last_mut().unwrap().push(c.to_ascii_lowercase());
            }
        }
        tokens.retain(|token| !token.is_empty());
        tokens
    }
}

/// Returns every source file of a crate.
pub fn sources(room: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(room).join("src")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns every string literal of a source as written, with its position.
fn literals(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            let end = raw.find("\"#").expect("a raw string ends");
            found.push((at, raw[..end].to_owned()));
            at += end + 5;
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            at += rest[1..].find("\"'").unwrap() + 3;
        } else if c == '"' {
            let end = closing_quote(&rest[1..]) + 1;
            found.push((at, rest[1..end].replace("\\n", "\n").replace("\\\"", "\"")));
            at += end + 1;
        } else {
            at += c.len_utf8();
        }
    }
    found
}

fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.expect("a string ends").0
}

/// Returns all named statements of the store.
pub fn statements() -> Vec<Statement> {
    let mut statements = Vec::new();
    // Statements that move a tenant are left out: they run as a superuser and are built from names of tables in the
    // catalogue.
    for file in sources("store").into_iter().filter(|file| !file.to_string_lossy().contains("/src/deployment/moving/"))
    {
        let source = std::fs::read_to_string(&file).unwrap();
        let named = literals(&source).into_iter().filter(|(_, text)| text.starts_with("-- "));
        statements.extend(named.map(|(_, sql)| Statement { file: file.clone(), sql }));
    }
    assert!(statements.len() > 40, "only {} statements were found", statements.len());
    statements
}

#[test]
fn every_statement_has_a_name_that_leads_to_it() {
    let mut names = BTreeSet::new();
    for statement in statements() {
        let name = statement.name();
        let (module, function) = name.split_once('.').unwrap_or_else(|| panic!("{name:?} is no module.function"));
        assert!(function.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
        let path = statement.file.with_extension("");
        let mut files = path.components().rev().take(2).map(|c| c.as_os_str().to_string_lossy());
        assert!(files.any(|file| file == module), "{name} is in {}", statement.file.display());
        assert!(names.insert(name.to_owned()), "two statements are called {name}");
    }
}

/// Only the files of statements across tenants, and the inspection of migrations, take the system role.
#[test]
fn only_the_listed_files_work_across_tenants() {
    for file in sources("store") {
        let source = std::fs::read_to_string(&file).unwrap();
        let path = file.to_string_lossy();
        let may = ["src/across/", "src/deployment/boot"].iter().any(|place| path.contains(place));
        assert!(may || !source.contains("SystemTx::begin"), "{path} works across tenants");
    }
}

#[test]
fn no_query_lacks_a_name() {
    for file in sources("store") {
        // Statements of the migrating role are exempt, because they run before the service's roles exist.
        if ["migrate.rs", "login.rs", "prepare.rs"].iter().any(|own| file.ends_with(own)) {
            continue;
        }
        let source = std::fs::read_to_string(&file).unwrap();
        for (at, text) in literals(&source).into_iter().filter(|(_, text)| is_sql(text)) {
            assert!(text.starts_with("-- "), "{}: byte {at}: a statement without a name: {text}", file.display());
        }
        for call in ["query!(", "query_as!(", "query_scalar!(", "query(", "query_as(", "query_scalar("] {
            for (at, _) in source.match_indices(call).filter(|(at, _)| source[..*at].ends_with("sqlx::")) {
                // The query uses a declared statement, whose name is checked at its declaration.
                if source[at + call.len()..].split(')').next().is_some_and(|argument| argument.ends_with("::SQL")) {
                    continue;
                }
                let first = literals(&source[at..]).into_iter().next().map(|(_, text)| text).unwrap_or_default();
                assert!(first.starts_with("-- "), "{}: byte {at}: a query without a name", file.display());
            }
        }
    }
}

#[test]
fn every_setting_is_local_to_its_transaction() {
    let mut settings = 0;
    for file in sources("store") {
        for (_, text) in literals(&std::fs::read_to_string(&file).unwrap()) {
            for (at, set) in text.match_indices("SET ") {
                assert!(text[at + set.len()..].starts_with("LOCAL "), "{}: {text}", file.display());
                settings += 1;
            }
            assert!(!text.contains("set_config"), "{}: {text}", file.display());
        }
    }
    assert!(settings > 4, "only {settings} settings were found");
}

#[test]
fn no_other_crate_contains_sql() {
    for room in ["ops", "server", "domain"] {
        for file in sources(room) {
            let source = std::fs::read_to_string(&file).unwrap();
            for (_, text) in literals(&source) {
                assert!(!is_sql(&text), "{}: {text}", file.display());
            }
            assert!(!source.contains("sqlx::"), "{} uses sqlx", file.display());
        }
    }
}

fn is_sql(text: &str) -> bool {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let has = |word: &str| words.iter().any(|w| w == word);
    match words.first().map(String::as_str) {
        Some("--") => words.get(1).is_some_and(|name| name.contains('.')),
        Some("select") => has("from"),
        Some("insert") => words.get(1).is_some_and(|w| w == "into"),
        Some("delete") => words.get(1).is_some_and(|w| w == "from"),
        Some("update") => has("set") && has("="),
        Some("with") => has("select") && has("from"),
        _ => false,
    }
}

#[test]
fn no_statement_selects_all_columns() {
    for statement in statements() {
        let mut depth = 0;
        let tokens = statement.tokens();
        for pair in tokens.windows(2) {
            match pair[0].as_str() {
                "(" => depth += 1,
                ")" => depth -= 1,
                "select" => assert!(depth > 0 || pair[1] != "*", "{} selects *", statement.name()),
                word => {
                    assert!(depth > 0 || !word.ends_with('.') || pair[1] != "*", "{} selects {word}*", statement.name())
                }
            }
        }
    }
}
