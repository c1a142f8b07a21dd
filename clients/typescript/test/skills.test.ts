import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import * as kh from "@knowhow/client";
import { newUser, skill } from "./support.js";

test("a skill is saved, read, patched, rolled back and deleted", async () => {
  const { skills } = newUser();
  const saved = await skills.save(skill("mcp/email"));
  assert(saved.status === "applied");
  assert.equal(saved.skill.version, 1);
  assert.equal((await skills.save(skill("mcp/email"))).skill?.unchanged, true);

  const patched = await skills.patch("mcp/email", { edits: [{ old_string: "Do it.", new_string: "Send it." }] });
  assert(patched.status === "applied");
  assert.deepEqual([patched.skill.version, patched.skill.replacements, patched.skill.matched], [2, 1, "exact"]);
  assert.match(await skills.diff("email", { from: 1, to: 2 }), /\+1\. Send it\./);
  assert.match(await skills.skillMd("email"), /^---\nname: email\n/);

  const labelled = await skills.setFields("email", { tags: ["mail"], pinned: true });
  assert.deepEqual(labelled.skill?.tags, ["mail"]);
  await assert.rejects(skills.delete("mcp/email"), kh.PinnedError);
  await skills.setFields("email", { pinned: false });

  assert.equal((await skills.rollback("email", 1)).skill?.content, skill("mcp/email").content);
  const versions = await skills.versions("email").all();
  assert.deepEqual(versions.map(({ version }) => version), [4, 3, 2, 1]);
  assert.match((await skills.version("email", 2)).skill_md, /Send it/);

  assert.deepEqual(await skills.delete("mcp/email"), { status: "applied", skill: null });
  await assert.rejects(skills.get("mcp/email"), kh.NotFoundError);
});

test("a load counts as a use and a get does not", async () => {
  const { skills } = newUser();
  await skills.save(skill("boil-eggs"));
  await skills.get("boil-eggs");
  assert.equal((await skills.get("boil-eggs")).times_used, 0);
  await skills.load("boil-eggs");
  assert.equal((await skills.get("boil-eggs")).times_used, 1);
  assert.deepEqual(await skills.used("boil-eggs", { session_key: "a", outcome: "success" }), { counted: true, times_used: 2 });
  assert.deepEqual(await skills.used("boil-eggs", { session_key: "a", outcome: "failure" }), { counted: false, times_used: 2 });
});

test("lists are read page by page, and searches find", async () => {
  const { skills } = newUser();
  for (let n = 0; n < 5; n++) await skills.save(skill(`pages/number-${n}`));
  const names: string[] = [];
  for await (const item of skills.list({ prefix: "pages/", limit: 2 })) names.push(item.name);
  assert.deepEqual(names, [0, 1, 2, 3, 4].map((n) => `pages/number-${n}`));
  const sizes: number[] = [];
  for await (const page of skills.list({ prefix: "pages/", limit: 2 }).pages()) sizes.push(page.items.length);
  assert.deepEqual(sizes, [2, 2, 1]);
  const first = await skills.list({ prefix: "pages/", limit: 2 });
  assert.equal(first.items.length, 2);
  assert(first.next_cursor);

  await skills.save({ name: "mow-lawn", description: "Mows the lawn. Use when the grass is too high.", content: "1. Mow." });
  assert.equal((await skills.search("the grass is high")).items[0]?.name, "mow-lawn");
  assert.equal((await skills.suggest("mow the high grass", { limit: 1 })).items[0]?.name, "mow-lawn");
  assert.equal((await skills.match("use mow-lawn now", { explain: true })).items[0]?.name, "mow-lawn");
});

test("files of a skill are written, read and deleted as bytes", async () => {
  const { skills } = newUser();
  await skills.save(skill("files"));
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  for (const [name, content] of [["assets/a b%ü.bin", bytes], ["assets/text.md", "Wörter\n"], ["scripts/run.sh", new Blob(["exit 0\n"])]] as const) {
    assert.equal((await skills.putResource("files", name, content, { executable: name.endsWith(".sh") })).status, "applied");
  }
  assert.deepEqual(await skills.getResource("files", "./assets/a b%ü.bin"), bytes);
  assert.equal(new TextDecoder().decode(await skills.getResource("files", "assets/text.md")), "Wörter\n");
  const { resources, version } = await skills.get("files");
  assert.deepEqual(resources.map(({ path, executable }) => [path, executable ?? false]), [
    ["assets/a b%ü.bin", false],
    ["assets/text.md", false],
    ["scripts/run.sh", true],
  ]);
  await assert.rejects(skills.deleteResource("files", "assets/text.md", { ifMatch: 1 }), (error: unknown) => {
    assert(error instanceof kh.VersionConflictError);
    assert.deepEqual([error.status, error.currentVersion], [412, version]);
    return true;
  });
  await skills.deleteResource("files", "assets/text.md", { ifMatch: version });
  await assert.rejects(skills.getResource("files", "assets/text.md"), kh.NotFoundError);
});

test("errors have the class of their problem and its fields", async () => {
  const { skills } = newUser();
  await skills.save(skill("a/mail", "one one\n"));
  await skills.save(skill("b/mail"));
  await assert.rejects(skills.save(skill("a/mail"), { createOnly: true }), kh.SkillExistsError);
  await assert.rejects(skills.get("mail"), (error) => error instanceof kh.AmbiguousNameError && error.candidates.join() === "a/mail,b/mail");
  await assert.rejects(skills.get("a/mial"), (error) => error instanceof kh.NotFoundError && error.candidates[0] === "a/mail");
  await assert.rejects(skills.save({ ...skill("a/mail"), content: "2", expected_version: 7 }), (error) => {
    assert(error instanceof kh.VersionConflictError && error instanceof kh.ConflictError && error instanceof kh.ApiError);
    assert.deepEqual([error.name, error.status, error.slug, error.currentVersion], ["VersionConflictError", 409, "version-conflict", 1]);
    assert.match(error.message, /^409 version-conflict: .+ \(request [0-9a-f-]{36}\)$/);
    return true;
  });
  await assert.rejects(skills.save({ name: "no/ /name", content: "" }), (error) => error instanceof kh.InvalidError && error.errors.length > 0);
  const edit = (old_string: string) => skills.patch("a/mail", { edits: [{ old_string, new_string: "x" }] });
  await assert.rejects(edit("absent text"), (error) => error instanceof kh.PatchNoMatchError && error.closest[0]?.line === 1);
  await assert.rejects(edit("one"), (error) => error instanceof kh.PatchAmbiguousError && error.matches.length === 2);
  const once = { idempotencyKey: crypto.randomUUID() };
  await skills.save(skill("once"), once);
  await assert.rejects(skills.save(skill("twice"), once), kh.IdempotencyMismatchError);
  await assert.rejects(newUser({ apiKey: "kh_none_none" }).skills.list().all(), kh.UnauthenticatedError);
  await assert.rejects(skills.putResource("a/mail", "SKILL.md", "x"), kh.InvalidError);
});

test("names cannot leave their place in the path", async () => {
  const client = newUser();
  for (const name of ["", ".", "..", undefined as unknown as string]) assert.throws(() => client.skills.get(name), TypeError);
  assert.throws(() => client.skills.getResource("a", "references/../../x"), TypeError);
});

test("the client needs an address and a credential, and says which", () => {
  const { KNOWHOW_URL, KNOWHOW_API_KEY } = process.env;
  try {
    delete process.env.KNOWHOW_URL;
    assert.throws(() => new kh.Knowhow(), /KNOWHOW_URL/);
    assert.throws(() => new kh.Knowhow({ url: "localhost" }), /is not a URL/);
    delete process.env.KNOWHOW_API_KEY;
    assert.throws(() => new kh.Knowhow({ url: "http://localhost" }), /KNOWHOW_API_KEY/);
  } finally {
    Object.assign(process.env, { KNOWHOW_URL, KNOWHOW_API_KEY });
  }
});

test("no log shows the credential", () => {
  assert.doesNotMatch(inspect(newUser(), { depth: 10, showHidden: true }), new RegExp(process.env.KNOWHOW_API_KEY!));
});

test("a user's name may have letters of any script", async () => {
  const name = `jürgen-Юля-${Date.now()}`;
  await newUser({ user: name }).skills.save(skill("of-a-user"));
  assert.equal((await newUser().withUser(name).skills.get("of-a-user")).version, 1);
});
