set local role knowhow_owner;

-- Processes count the words of memories themselves, once, and keep them (ops/src/memories/words.rs).
alter table memories drop column terms;

reset role;
