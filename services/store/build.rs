//! The migrations are part of the binary: a new one makes a new build.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
