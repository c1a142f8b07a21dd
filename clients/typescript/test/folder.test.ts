import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { faultyProxy, newUser, skill, withFolder } from "./support.js";

const MD = (name: string) => `---\r\nname: ${name}\ndescription: "Does it. Use when asked."  # a comment\n---\n\n# ${name}\t\n\n1. Do it. ü\n`;
const LONG = `references/${"d".repeat(90)}/${"ü".repeat(50)}.md`;

async function write(folder: string, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

async function digests(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const mode = (await stat(path)).mode & 0o100 ? "x" : "-";
    found[path.slice(folder.length + 1)] = mode + createHash("sha256").update(await readFile(path)).digest("hex");
  }
  return found;
}

test("a folder is imported and exported byte for byte", () =>
  withFolder(async (work) => {
    const [from, to] = [join(work, "from"), join(work, "to")];
    const bytes = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), randomBytes(100_000)]);
    await write(from, {
      "mcp/email/SKILL.md": MD("email"),
      [`mcp/email/${LONG}`]: "long\n",
      "mcp/email/assets/all.bin": bytes,
      "mcp/email/scripts/run.sh": "#!/bin/sh\n",
      "notes/SKILL.md": MD("notes"),
      "notes/references/empty.md": "",
    });
    await chmod(join(from, "mcp/email/scripts/run.sh"), 0o755);
    const client = newUser();
    for (const { name } of await client.skills.list().all()) await client.skills.delete(name);
    const report = await client.skills.importFolder(from);
    assert.deepEqual([report.created, report.failed, report.left_out], [2, 0, []]);
    assert.equal((await client.skills.importFolder(from)).unchanged, 2);
    await client.skills.exportFolder(to);
    assert.deepEqual(await digests(to), await digests(from));
    await assert.rejects(client.skills.exportFolder(to), /not empty/);
  }));

test("a folder with a SKILL.md is one skill, and links are reported", () =>
  withFolder(async (work) => {
    await write(join(work, "my-skill"), { "SKILL.md": MD("my-skill"), "references/a.md": "a", "node_modules/x/index.js": "left out" });
    await symlink("/etc/passwd", join(work, "my-skill/references/link.md"));
    const client = newUser();
    const report = await client.skills.importFolder(join(work, "my-skill"));
    assert.deepEqual(report.items.map(({ name, outcome }) => [name, outcome]), [["my-skill", "created"]]);
    assert.match(JSON.stringify(report.left_out), /link\.md/);
    assert.deepEqual((await client.skills.get("my-skill")).resources.map(({ path }) => path), ["references/a.md"]);
  }));

test("an export streams, and is imported by another user", async () => {
  const client = newUser();
  await client.skills.save(skill("travels", "1. Go.\n".repeat(2000)));
  const response = await client.skills.export({ format: "zip" });
  assert.equal(response.headers.get("content-type"), "application/zip");
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body!) chunks.push(chunk as Uint8Array);
  const archive = new Blob(chunks as Uint8Array<ArrayBuffer>[]);
  const other = newUser();
  const report = await other.skills.import([archive, MD("loose"), new File([MD("named")], "named/SKILL.md")]);
  assert.deepEqual([report.failed, report.items.some(({ name }) => name === "travels")], [0, true]);
  assert.equal(await other.skills.skillMd("travels"), await client.skills.skillMd("travels"));
  const refused = await other.skills.import(MD("loose").replace("Do it", "Do more"), { expected: { loose: 9 }, fix: true });
  assert.deepEqual(refused.items.map(({ outcome, code }) => [outcome, code]), [["failed", "version-conflict"]]);
});

test("a broken export leaves no folder", () =>
  withFolder(async (work) => {
    const whole = Buffer.from(await (await newUser().skills.export({ format: "tar.gz" })).arrayBuffer());
    for (const length of [whole.length - 5, whole.length >> 1, 0]) {
      await using proxy = await faultyProxy({ status: 200, body: whole.subarray(0, length) });
      await assert.rejects(newUser({ url: proxy.url }).skills.exportFolder(join(work, "out")));
      assert.deepEqual(await readdir(work), []);
    }
  }));

test("an unsafe archive is not unpacked", () =>
  withFolder(async (work) => {
    for (const name of ["../evil.md", "/evil.md", "a/../../evil.md", "a\\evil.md", "C:evil.md"]) {
      await using proxy = await faultyProxy({ status: 200, body: tarWith(name) });
      await assert.rejects(newUser({ url: proxy.url }).skills.exportFolder(join(work, "out")), /unsafe path/);
      assert.deepEqual(await readdir(work), []);
    }
  }));

/** Returns an archive with one file of any name. */
function tarWith(name: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write("0000644\0", 100);
  header.write("00000000000\0", 124);
  header.write("0", 156);
  return gzipSync(Buffer.concat([header, Buffer.alloc(1024)]));
}
