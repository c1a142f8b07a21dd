use super::*;

#[test]
fn disclaimers_are_removed_from_descriptions() {
    for (description, claims) in [
        ("Sell ads. NOT for email (use mail-setup). Also billing.", "Sell ads.  Also billing."),
        ("Sell ads — not for email, SMS or v1.2 of it", "Sell ads — "),
        ("Sell ads (not for email) and banners.", "Sell ads () and banners."),
        ("Sell ads.\nDo not use for email\nOr banners", "Sell ads.\n\nOr banners"),
        ("Don’t use for email! Sell ads", " Sell ads"),
    ] {
        assert_eq!(claims_of(description), claims);
    }
    for whole in ["", "Not for email.", "Write tests that do not use the network", "knot for ropes", "Не для почты"]
    {
        assert_eq!(claims_of(whole), whole);
    }
}
