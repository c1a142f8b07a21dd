import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as kh from "@knowhow/client";
import { admin, newName, newUser, skill } from "./support.js";

const REASON = { reason: "a test of the client" };

test("memories are saved, found, corrected and deleted", async () => {
  const { memories } = newUser();
  const memory = await memories.save({ content: "Ann reads her mail on Mondays.", kind: "semantic", core: true });
  assert.equal((await memories.get(memory.id)).content, memory.content);
  assert.deepEqual((await memories.list({ core: true }).all()).map(({ id }) => id), [memory.id]);
  assert.match(JSON.stringify((await memories.recall("when does Ann read mail", { limit: 3 })).items[0]), /Mondays/);
  const changed = await memories.update(memory.id, { content: "Ann reads her mail on Fridays.", expected_version: memory.version });
  assert.equal(changed.version, memory.version + 1);
  assert.match(JSON.stringify(await memories.versions(memory.id).all()), /Mondays/);
  assert.equal(await memories.delete(memory.id), undefined);
  await assert.rejects(memories.get(memory.id), kh.NotFoundError);
});

test("a reviewer approves tainted memories and souls", async () => {
  const user = newName();
  const session = await newUser({ user }).session({ key: "k" });
  await session.taint("a page");
  const memory = await session.memories.save({ content: "The shop opens at nine on Sundays." });
  const soul = await session.soul.put({ text: "Be kind.", expected_version: 0 });
  assert.equal((await admin().memories.approve(memory.id, { comment: "true" }, { ...REASON, user })).tainted, false);
  assert.equal((await admin().soul.approve(soul.version, {}, { ...REASON, user })).tainted, false);
  await assert.rejects(newUser({ user }).memories.approve(memory.id), kh.ApiError);
});

test("the soul has versions", async () => {
  const { soul } = newUser();
  assert.equal((await soul.put({ text: "Be brief.", expected_version: 0 })).version, 1);
  await assert.rejects(soul.put({ text: "Be long.", expected_version: 0 }), kh.VersionConflictError);
  assert.equal((await soul.get()).text, "Be brief.");
  assert.equal((await soul.versions().all()).length, 1);
});

test("submissions wait, and reviewers decide", async () => {
  const client = newUser();
  const direct = await client.submissions.create({ ...skill("harmless"), reason: "asked for twice" });
  assert.equal(direct.state, "approved");

  const session = await client.session({ key: "k" });
  await session.taint("a page");
  const waiting = async (name: string) => {
    const change = await session.skills.save(skill(name));
    assert(change.status === "waiting");
    return change.submission;
  };
  const [first, second, third] = [await waiting("one"), await waiting("two"), await waiting("three")];
  assert.equal((await client.submissions.list({ state: "needs_review" }).all()).length, 3);
  assert.equal((await client.submissions.get(first.id)).skill, "one");

  const { submissions } = admin();
  assert.match((await submissions.get(first.id, REASON)).skill_md!, /# one/);
  assert.equal((await submissions.approve(first.id, { comment: "checked" }, REASON)).state, "approved");
  assert.equal((await client.skills.get("one")).tainted, false);
  await assert.rejects(submissions.approve(first.id, {}, REASON), kh.DecidedError);
  assert.equal((await submissions.reject(second.id, { comment: "no" }, REASON)).state, "rejected");
  await assert.rejects(session.skills.save(skill("two")), kh.RejectedError);
  assert.equal((await client.submissions.withdraw(third.id)).state, "withdrawn");
});

test("a submission on an older version is merged with the current one", async () => {
  const client = newUser();
  await client.skills.save(skill("long", "first line\n\nmiddle\n\nlast line\n"));
  const session = await client.session({ key: "k" });
  await session.taint("a page");
  const change = await session.skills.patch("long", { edits: [{ old_string: "last line", new_string: "end" }] });
  assert(change.status === "waiting");
  await client.skills.patch("long", { edits: [{ old_string: "first line", new_string: "start" }] });
  await assert.rejects(admin().submissions.approve(change.submission.id, {}, REASON), kh.StaleError);
  const rebased = await admin().submissions.rebase(change.submission.id, REASON);
  await admin().submissions.approve(rebased.id, {}, REASON);
  assert.equal((await client.skills.get("long")).content, "start\n\nmiddle\n\nend\n");
});

test("a dream links skills that are used together, and is undone", async () => {
  const user = newName();
  const client = newUser({ user });
  for (const name of ["boil-eggs", "toast-bread"]) await client.skills.save(skill(name));
  for (let n = 0; n < 3; n++) {
    await using session = await client.session();
    await session.turn("breakfast, please");
    for (const name of ["boil-eggs", "toast-bread"]) await session.skills.load(name);
  }
  assert.equal((await client.dreams.candidates({ pass: "consolidate" })).co_used.length, 1);
  const [run] = await client.dreams.start({ passes: ["consolidate"] });
  const applied = await finished(client, run!.id);
  assert.equal(applied.state, "applied");
  assert.deepEqual((await client.skills.get("boil-eggs")).see_also, ["toast-bread"]);
  assert.equal((await client.dreams.list().all())[0]?.id, applied.id);

  const { dreams } = admin();
  await assert.rejects(dreams.apply(applied.id, {}, { ...REASON, user }), kh.ConflictError);
  await assert.rejects(dreams.reject(applied.id, {}, { ...REASON, user }), kh.ConflictError);
  assert.equal((await dreams.undo(applied.id, { ...REASON, user })).state, "undone");
  assert.deepEqual((await client.skills.get("boil-eggs")).see_also, []);
});

test("learning settings are read and changed", async () => {
  const { learning } = newUser();
  assert.equal((await learning.get()).has_model, false);
  assert.equal((await learning.put({ time_zone: "Europe/Berlin" })).time_zone, "Europe/Berlin");
});

async function finished(client: kh.Knowhow, id: string): Promise<kh.DreamDetail> {
  for (let tries = 0; tries < 100; tries++) {
    const run = await client.dreams.get(id);
    if (!["queued", "running"].includes(run.state)) return run;
    await sleep(100);
  }
  throw new Error(`the dream did not end: ${JSON.stringify(await client.dreams.get(id))}`);
}
