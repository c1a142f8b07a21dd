//! Set-up and maintenance of a deployment's databases: checks at startup, migrations, moves, replicas, poolers.

pub mod boot;
pub(crate) mod migrate;
pub mod moving;
pub mod pooler;
pub mod replica;
pub(crate) mod restored;
