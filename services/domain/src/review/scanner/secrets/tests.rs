use super::value::{PasswordContext, entropy, is_password, is_strong_password};
use super::*;
use crate::review::scanner::rules::Rules;

#[test]
fn every_pattern_compiles() {
    for secret in Rules::get().rules.iter().flat_map(|rule| &rule.patterns) {
        secret.searchers().for_each(|searcher| assert!(!searcher.compiled().as_str().is_empty()));
    }
    for pattern in patterns() {
        pattern
            .allowed
            .iter()
            .chain(&*pattern.allowed_everywhere)
            .for_each(|allowed| assert!(allowed.compiled().0.len() <= 64));
    }
}

#[test]
fn entropy_is_computed_from_character_frequencies() {
    assert_eq!(entropy("aaaa"), 0.0);
    assert_eq!(entropy("abab"), 1.0);
    assert_eq!(entropy("abcdefgh"), 3.0);
}

#[test]
fn placeholders_are_not_passwords() {
    let context = PasswordContext { user: "user", host: "db.acme.io" };
    let placeholders = "password pass PASSWORD mypassword secret user changeme xxxx **** ... <password> ${DB_PASS} $PASS \
                        {password} [password] %PASS% your-password your_password_here {{password}} hunter example test123 \
                        password123 postgres S $(cat) MyPassword1! p";
    for placeholder in placeholders.split(' ').filter(|word| *word != "hunter") {
        assert!(!is_password(placeholder, context), "{placeholder}");
    }
    for password in ["hunter2", "Zk29xQ7v", "correct-horse-battery", "s3cr3t-Vx9", "p%40ss%2Fw8rd"] {
        assert!(is_password(password, context), "{password}");
    }
    let local = PasswordContext { user: "user", host: "localhost:5432" };
    assert!(!is_password("hunter2", local) && is_password("Zk29xQ7v", local));
}

#[test]
fn words_and_code_are_not_strong_passwords() {
    for text in
        ["correct-horse", "process.env.PASSWORD1", "getPassword2()", "Password123!", "os.environ['X1']", "required"]
    {
        assert!(!is_strong_password(text), "{text}");
    }
    assert!(is_strong_password("Tr0ub4dor&3"));
}
