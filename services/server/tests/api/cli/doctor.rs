//! `knowhow doctor`, over databases of its own: what it says of the processes depends on which are running.

use crate::cli::setup::{Place, outcome};
use crate::service::{PATIENCE, Service, poll};
use crate::sql::execute_at;

/// A migrated place, and what a command needs to go there.
pub struct Ground {
    place: Place,
    owner: String,
    login: String,
}

impl Ground {
    /// Makes the place.
    pub fn make() -> Self {
        let place = Place::make();
        let (owner, login) = (place.owner_url(), place.login_url("knowhow_login", &password()));
        let ground = Self { place, owner, login };
        let (success, said) = outcome(&["migrate"], &ground.settings());
        assert!(success, "{said}");
        ground
    }

    /// How a command comes there.
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

/// Settings of a process with one thread there: it may open 13 connections, and 5 beside.
fn one_thread(ground: &Ground) -> Vec<(&str, &str)> {
    [&ground.settings()[..], &[("KNOWHOW_WORKERS", "1")]].concat()
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let ground = Ground::make();
    let (success, said) = ground.doctor();
    assert!(success && said.contains("processes: none is running"), "{said}");
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
    assert!(success && said.contains("connections: 18 at most, which the database admits"), "{said}");

    let limit =
        |most: i32| ground.execute(&format!("alter database {} connection limit {most}", ground.place.database));
    limit(17);
    let (success, said) = ground.doctor();
    let told = ["18 connections together", "limit of the database", "admits 17", "KNOWHOW_WORKERS", "a pooler"];
    assert!(!success && told.iter().all(|word| said.contains(word)), "{said}");
    limit(18);
    assert!(ground.doctor().0);

    let other = "insert into processes (process_id, kind, version, host, connections)
                 values (gen_random_uuid(), 'worker', '0.0.9', 'elsewhere', 1)";
    ground.execute(other);
    limit(-1);
    let (success, said) = ground.doctor();
    assert!(success && said.contains("process: worker 0.0.9 at elsewhere"), "{said}");
    assert!(said.contains("2 versions are running") && said.contains("connections: 19 at most"), "{said}");
    ground.execute("delete from processes where host = 'elsewhere'");
    service.terminate();
    service.wait(PATIENCE);
    assert!(ground.doctor().1.contains("processes: none is running"), "{}", ground.doctor().1);
}

/// What a process says of itself is no reason for it to serve nobody.
#[test]
fn a_process_that_cannot_be_listed_serves_and_says_so_once() {
    let ground = Ground::make();
    ground.execute("revoke insert on processes from knowhow_system");
    let mut service = Service::start(&one_thread(&ground));
    let told = || service.log().matches("not in the list of processes; it tries again").count();
    poll("the process to say so", || (told() == 1).then_some(()));
    service.terminate();
    assert!(service.wait(PATIENCE).success());
}
