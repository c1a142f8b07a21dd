//! Setup of a deployment: messages of `migrate`, `doctor`, `serve` and other commands if the database is not usable,
//! and the help of the command line.

use uuid::Uuid;

use crate::service::{knowhow, login_url, login_url_of, migrated, owner_url, printed};
use crate::sql::{column_at, execute, execute_at};

/// Returns whether a command succeeded, and its output on both channels.
pub fn outcome(arguments: &[&str], settings: &[(&str, &str)]) -> (bool, String) {
    migrated();
    let output = knowhow(arguments).envs(settings.iter().copied()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

fn login() -> url::Url {
    login_url().parse().unwrap()
}

/// Returns wrong database URLs, each with the expected reason and advice.
fn mistakes() -> Vec<(url::Url, &'static str, &'static str)> {
    let changed = |change: fn(&mut url::Url)| {
        let mut url = login();
        change(&mut url);
        url
    };
    vec![
        (
            changed(|url| url.set_password(Some("5ec4e7")).unwrap()),
            "password authentication failed",
            "knowhow migrate --set-login-password",
        ),
        (
            changed(|url| url.set_path("no-such-base")),
            "database \"no-such-base\" does not exist",
            "KNOWHOW_DATABASE_URL",
        ),
        (changed(|url| url.set_query(Some("sslmode=require"))), "the server does not offer TLS", "sslmode=prefer"),
        (changed(|url| url.set_port(Some(1)).unwrap()), "Connection refused", "check that Postgres is running there"),
    ]
}

#[test]
fn every_command_explains_why_the_database_is_unreachable() {
    let says_why = |command: &[&str]| {
        for (url, reason, advice) in mistakes() {
            let (success, said) = outcome(command, &[("KNOWHOW_DATABASE_URL", url.as_str())]);
            assert!(!success, "{command:?}: {said}");
            let address = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
            let database = format!("'{}'", url.path().trim_start_matches('/'));
            for part in [reason, advice, &address, &database] {
                assert!(said.contains(part), "{command:?} without {part}: {said}");
            }
            assert!(!said.contains(url.password().unwrap()) && !said.contains("internal error"), "{command:?}: {said}");
        }
    };
    // Runs the commands concurrently, because some of them retry for seconds.
    std::thread::scope(|scope| {
        for command in [&["doctor"][..], &["serve"], &["worker"], &["token", "--tenant", "demo"], &["seed-demo"]] {
            scope.spawn(move || says_why(command));
        }
    });
}

/// A separate database and the name of a role. Both are dropped at the end.
pub(super) struct Place {
    pub(super) database: String,
    role: String,
}

impl Place {
    pub(super) fn make() -> Self {
        let name = Uuid::now_v7().simple().to_string();
        let place = Self { database: format!("knowhow_test_{name}"), role: format!("knowhow_test_{name}") };
        execute(&format!("create database {}", place.database));
        place
    }

    pub(super) fn owner_url(&self) -> String {
        let mut url = owner_url();
        url.set_path(&self.database);
        url.into()
    }

    pub(super) fn login_url(&self, role: &str, password: &str) -> String {
        let mut url: url::Url = login_url_of(self.owner_url().parse().unwrap()).parse().unwrap();
        url.set_username(role).unwrap();
        url.set_password(Some(password)).unwrap();
        url.into()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        execute(&format!("drop database {} with (force)", self.database));
        execute(&format!("drop role if exists {}", self.role));
    }
}

#[test]
fn a_password_is_changed_only_on_request_and_a_wrong_one_reported() {
    let place = Place::make();
    let owner = place.owner_url();
    let migrate = |arguments: &[&str], role: &str, password: &str| {
        let url = place.login_url(role, password);
        outcome(arguments, &[("DATABASE_URL", &owner), ("KNOWHOW_DATABASE_URL", &url)])
    };
    let doctor =
        |password: &str| outcome(&["doctor"], &[("KNOWHOW_DATABASE_URL", &place.login_url(&place.role, password))]);
    let (success, said) = migrate(&["migrate"], &place.role, "one");
    assert!(success && said.contains("up to date"), "{said}");
    assert!(doctor("one").0, "{}", doctor("one").1);
    let (success, said) = migrate(&["migrate"], &place.role, "two");
    assert!(!success && said.contains("has another password") && said.contains("--set-login-password"), "{said}");
    assert!(!said.contains("'two'") && doctor("one").0, "{said}");
    let (success, said) = migrate(&["migrate", "--set-login-password"], &place.role, "two");
    assert!(success && doctor("two").0 && !doctor("one").0, "{said}");
    let (success, said) = outcome(
        &["migrate", "--set-login-password"],
        &[("DATABASE_URL", &owner), ("KNOWHOW_DATABASE_URL", "postgres://127.0.0.1/knowhow")],
    );
    assert!(!success && said.contains("needs a role and a password"), "{said}");
}

#[test]
fn a_role_that_may_not_migrate_gets_the_needed_statements_once() {
    let place = Place::make();
    execute(&format!("create role {} login createrole password 'x'", place.role));
    execute(&format!("alter database {} owner to {}", place.database, place.role));
    let url = place.login_url(&place.role, "x");
    let (success, said) = outcome(&["migrate"], &[("DATABASE_URL", &url)]);
    assert!(!success && said.contains("as a superuser run: create extension vector;"), "{said}");
    assert_eq!((said.matches("create extension").count(), said.lines().count()), (1, 1), "{said}");
    let mut nowhere: url::Url = url.parse().unwrap();
    nowhere.set_password(Some("5ec4e7")).unwrap();
    let (success, said) = outcome(&["migrate"], &[("DATABASE_URL", nowhere.as_str())]);
    assert!(!success && said.contains("password authentication failed") && said.contains("DATABASE_URL"), "{said}");
    assert!(!said.contains("5ec4e7"), "{said}");
}

#[test]
fn unsuitable_roles_and_databases_are_refused_before_any_migration() {
    let place = Place::make();
    let (owner, login) = (place.owner_url(), login_url());
    let acting = |settings: &str| format!("{owner}?options={settings}");
    let refused = |url: &str, service: &str, words: &str| {
        let (success, said) = outcome(&["migrate"], &[("DATABASE_URL", url), ("KNOWHOW_DATABASE_URL", service)]);
        assert!(!success && said.contains(words) && said.lines().count() == 1, "{words}: {said}");
        let begun = column_at(&owner.parse().unwrap(), "select to_regclass('_sqlx_migrations')::text");
        assert_eq!(begun, [""], "{words}");
    };
    for role in ["knowhow_owner", "knowhow_login", "knowhow_tenant", "knowhow_admin", "knowhow_system", "knowhow_queue"]
    {
        let words = format!("the role '{role}' cannot run the migrations");
        refused(&acting(&format!("-c%20role%3D{role}")), &login, &words);
        refused(&acting(&format!("-c+role={role}")), &login, "let a role with another name own the database");
    }
    refused(&acting("-c%20default_transaction_read_only=on"), &login, "DATABASE_URL must lead to the primary");
    execute(&format!("create role {} login createrole password 'x'", place.role));
    execute(&format!("alter database {} owner to {}", place.database, place.role));
    let change = |statements: &[&str]| {
        for statement in statements {
            execute_at(&owner.parse().unwrap(), statement);
        }
    };
    let mine = place.login_url(&place.role, "x");
    refused(&mine, &mine, "is also the login role of KNOWHOW_DATABASE_URL");
    change(&["create schema other", "create extension vector schema other"]);
    refused(&mine, &login, "alter extension vector set schema public;");
    change(&["alter extension vector set schema public", "alter schema public owner to current_user"]);
    refused(&mine, &login, &format!("alter schema public owner to {};", place.role));
    change(&["drop extension vector", "drop schema public cascade"]);
    refused(&mine, &login, &format!("create schema public authorization \"{}\";", place.role));
}

#[test]
fn the_demo_tenant_is_created_once_and_its_variables_disturb_no_command() {
    let place = Place::make();
    let (owner, login) = (place.owner_url(), place.login_url(&place.role, "x"));
    let settings = [("DATABASE_URL", owner.as_str()), ("KNOWHOW_DATABASE_URL", login.as_str())];
    for _ in 0..2 {
        for command in ["migrate", "seed-demo"] {
            let (success, said) = outcome(&[command], &settings);
            assert!(success, "{said}");
        }
    }
    // People load the printed variables into their shell, where they then run other commands.
    let output = knowhow(&["seed-demo"]).envs(settings).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let shell: Vec<(&str, &str)> = printed.lines().filter_map(|line| line.split_once('=')).collect();
    assert!(shell.iter().any(|(name, _)| *name == "KNOWHOW_TOKEN"), "{printed}");
    let (success, said) = outcome(&["config"], &shell);
    assert!(success, "{said}");
    let other = "ab".repeat(32);
    let (success, said) = outcome(&["seed-demo"], &[settings[1], ("KNOWHOW_SECRET_KEY", &other)]);
    assert!(!success && said.contains("KNOWHOW_SECRET_KEY"), "{said}");
}

#[test]
fn help_completions_and_errors_describe_the_commands() {
    let help = printed(&["--help"]);
    assert!(help.starts_with("Stores what agents have learned to do"), "{help}");
    let script = printed(&["completions", "bash"]);
    assert!(script.contains("_knowhow()") && script.contains("set-login-password"), "{script}");
    let (success, said) = outcome(&["token", "--tenant", "demo", "--role", "boss"], &[]);
    assert!(!success && said.contains("boss") && said.contains("user, tenant_admin"), "{said}");
    let (success, said) = outcome(&["serve"], &[("KNOWHOW_PORT", "70000")]);
    assert!(!success && said.contains("KNOWHOW_PORT must be a whole number from 0 to 65535"), "{said}");
}
