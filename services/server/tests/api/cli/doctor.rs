//! `knowhow doctor` on separate databases, because its output depends on the running processes.

use crate::cli::setup::{Place, outcome};
use crate::service::{PATIENCE, Service, poll};
use crate::sql::execute_at;

/// A migrated database, and the URLs to connect to it.
pub struct Ground {
    place: Place,
    owner: String,
    login: String,
}

impl Ground {
    /// Creates and migrates the database.
    pub fn make() -> Self {
        let place = Place::make();
        let (owner, login) = (place.owner_url(), place.login_url("knowhow_login", &password()));
        let ground = Self { place, owner, login };
        let (success, said) = outcome(&["migrate"], &ground.settings());
        assert!(success, "{said}");
        ground
    }

    /// Returns the settings with which a command uses this database.
    pub fn settings(&self) -> [(&str, &str); 2] {
        [("DATABASE_URL", &self.owner), ("KNOWHOW_DATABASE_URL", &self.login)]
    }

    fn doctor(&self) -> (bool, String) {
        outcome(&["doctor"], &self.settings())
    }

    fn execute(&self, statement: &str) {
        execute_at(&self.owner.parse().unwrap(), statement);
    }
}

fn password() -> String {
    let login: url::Url = crate::service::login_url().parse().unwrap();
    login.password().unwrap().to_owned()
}

/// Returns settings of a process with one thread, which may open at most 18 connections.
fn one_thread(ground: &Ground) -> Vec<(&str, &str)> {
    [&ground.settings()[..], &[("KNOWHOW_WORKERS", "1")]].concat()
}

#[test]
fn the_doctor_reports_wrong_settings() {
    let ground = Ground::make();
    let (success, said) = ground.doctor();
    assert!(success && said.contains("processes: no running process"), "{said}");
    let wrong = [("KNOWHOW_DATABASE_URL", ground.owner.as_str()), ("KNOWHOW_SECRET_KEY", "xyz")];
    let (success, said) = outcome(&["doctor"], &wrong);
    assert!(!success && said.contains("is a superuser") && said.contains("KNOWHOW_SECRET_KEY"), "{said}");
}

#[test]
fn processes_are_listed_and_their_connections_compared() {
    let ground = Ground::make();
    let mut service = Service::start(&one_thread(&ground));
    let line = |said: &str| said.lines().find(|line| line.starts_with("process: ")).map(str::to_owned);
    let line = poll("the process to be listed", || line(&ground.doctor().1));
    let expected = concat!("process: serve ", env!("CARGO_PKG_VERSION"), " at ");
    assert!(line.starts_with(expected) && line.contains("at most 18 connections, seen "), "{line}");
    let (success, said) = ground.doctor();
    assert!(success && said.contains("connections: at most 18, which the database allows"), "{said}");

    let limit =
        |most: i32| ground.execute(&format!("alter database {} connection limit {most}", ground.place.database));
    limit(17);
    let (success, said) = ground.doctor();
    let told = ["18 connections together", "limit of the database", "allows 17", "KNOWHOW_WORKERS", "a pooler"];
    assert!(!success && told.iter().all(|word| said.contains(word)), "{said}");
    limit(18);
    assert!(ground.doctor().0);

    let other = "insert into processes (process_id, kind, version, host, connections)
                 values (gen_random_uuid(), 'worker', '0.0.9', 'elsewhere', 1)";
    ground.execute(other);
    limit(-1);
    let (success, said) = ground.doctor();
    assert!(success && said.contains("process: worker 0.0.9 at elsewhere"), "{said}");
    assert!(said.contains("2 versions are running") && said.contains("connections: at most 19"), "{said}");
    ground.execute("delete from processes where host = 'elsewhere'");
    service.terminate();
    service.wait(PATIENCE);
    assert!(ground.doctor().1.contains("processes: no running process"), "{}", ground.doctor().1);
}

/// A process still serves requests if it cannot be added to the list of processes.
#[test]
fn a_process_that_cannot_be_listed_serves_and_logs_it_once() {
    let ground = Ground::make();
    ground.execute("revoke insert on processes from knowhow_system");
    let mut service = Service::start(&one_thread(&ground));
    let told = || service.log().matches("cannot be added to the list of processes; retrying").count();
    poll("the process to say so", || (told() == 1).then_some(()));
    service.terminate();
    assert!(service.wait(PATIENCE).success());
}
