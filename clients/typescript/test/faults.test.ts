import assert from "node:assert/strict";
import { test } from "node:test";
import * as kh from "@knowhow/client";
import { faultyProxy, newName, newUser, skill } from "./support.js";

test("a write whose answer is lost is sent again and takes effect once", async () => {
  await using proxy = await faultyProxy("lose", "lose");
  const client = newUser({ url: proxy.url });
  const memory = await client.memories.save({ content: "Ann has a dog." });
  assert.equal(proxy.seen.length, 3);
  assert.equal(new Set(proxy.seen.map(({ headers }) => headers["idempotency-key"])).size, 1);
  assert.deepEqual((await client.memories.list().all()).map(({ id }) => id), [memory.id]);
  await client.memories.save({ content: "Ann has a cat." });
  assert.notEqual(proxy.seen.at(-1)!.headers["idempotency-key"], proxy.seen[0]!.headers["idempotency-key"]);
});

test("an import whose answer is lost sends the same bytes again", async () => {
  await using proxy = await faultyProxy("lose");
  const client = newUser({ url: proxy.url });
  const report = await client.skills.import("---\nname: once\ndescription: Once. Use when testing.\n---\nDo it.\n");
  assert.deepEqual([report.created, report.unchanged], [1, 0]);
  assert.equal(proxy.seen[0]!.body, proxy.seen[1]!.body);
  assert.equal((await client.skills.get("once")).version, 1);
});

test("a turn and a reply whose answers are lost are one turn and one reply", async () => {
  await using proxy = await faultyProxy("forward", "lose", "forward", "lose");
  const session = await newUser({ url: proxy.url }).session({ key: "k" });
  assert.equal((await session.turn("hello there")).turn, 1);
  await session.reply("hello");
  assert.equal((await session.messages().all()).length, 2);
});

test("Retry-After is honoured", async () => {
  const inTwoSeconds = () => new Date(Date.now() + 2000).toUTCString();
  for (const [status, after] of [[503, () => "1"], [429, inTwoSeconds]] as const) {
    await using proxy = await faultyProxy({ status, headers: { "retry-after": after() } });
    const began = Date.now();
    await newUser({ url: proxy.url }).skills.list();
    assert(Date.now() - began >= 950, `waited ${Date.now() - began} ms`);
    assert.equal(proxy.seen.length, 2);
  }
});

test("a pause beyond the deadline fails at once, and names the pause", async () => {
  await using proxy = await faultyProxy({ status: 503, headers: { "retry-after": "30" } });
  const began = Date.now();
  await assert.rejects(newUser({ url: proxy.url, timeoutMs: 2000 }).skills.list().all(), (error) => {
    assert(error instanceof kh.UnavailableError);
    assert.deepEqual([error.status, error.retryAfter, error.slug], [503, 30, "http-503"]);
    return true;
  });
  assert(Date.now() - began < 5000);
});

test("retries end", async () => {
  const busy = { status: 503, headers: { "retry-after": "0" } };
  await using proxy = await faultyProxy(busy, busy, busy, busy, busy);
  await assert.rejects(newUser({ url: proxy.url, maxRetries: 2 }).skills.list().all(), kh.UnavailableError);
  assert.equal(proxy.seen.length, 3);
});

test("other errors, a quota and a decision without an answer are not retried", async () => {
  const quota = { type: "/problems/quota-exceeded", title: "", status: 429, detail: "full", instance: "" };
  const faults = [{ status: 429, headers: { "retry-after": "1" }, body: JSON.stringify(quota) }, { status: 404 }, "lose"] as const;
  await using proxy = await faultyProxy(...faults);
  const client = newUser({ url: proxy.url });
  await assert.rejects(client.skills.save(skill("a")), kh.QuotaExceededError);
  await assert.rejects(client.skills.save(skill("a")), kh.NotFoundError);
  await assert.rejects(client.submissions.approve("0192f0c1-7b1e-7c3a-9d53-0e2f6a1b4c5d"), kh.ConnectionError);
  assert.equal(proxy.seen.length, 3);
});

test("a turn that is late can be asked for again", async () => {
  await using proxy = await faultyProxy("forward", "hang");
  const session = await newUser({ url: proxy.url }).session({ key: "call", channel: "voice" });
  const began = Date.now();
  await assert.rejects(session.turn("hello there", { turnKey: "t1", deadlineMs: 100, timeoutMs: 300 }), kh.TimeoutError);
  assert(Date.now() - began < 5000);
  assert.equal((await session.turn("hello there", { turnKey: "t1" })).turn, 1);
});

test("a signal aborts a request, its retries and a stream, with the signal's reason", async () => {
  await using proxy = await faultyProxy("hang", { status: 503, headers: { "retry-after": "20" } });
  const client = newUser({ url: proxy.url });
  await assert.rejects(client.skills.list({}, { signal: AbortSignal.timeout(100) }).all(), { name: "TimeoutError" });
  const reason = new Error("hung up");
  const abort = new AbortController();
  setTimeout(() => abort.abort(reason), 100);
  await assert.rejects(client.skills.list({}, { signal: abort.signal }).all(), reason);
  assert.equal(proxy.seen.length, 2);
});

test("a service that is not there is a connection error", async () => {
  const client = newUser({ url: "http://127.0.0.1:9", maxRetries: 1 });
  await assert.rejects(client.skills.list().all(), (error) => error instanceof kh.ConnectionError && /no answer from http:\/\/127\.0\.0\.1:9: /.test(error.message));
});

test("an answer of something else than the service is an error that says so", async () => {
  await using proxy = await faultyProxy({ status: 200, body: "<html>" });
  await assert.rejects(newUser({ url: proxy.url }).skills.list().all(), /is this the URL of a Knowhow service/);
});

test("a request names its user, credential, session and reason", async () => {
  await using proxy = await faultyProxy();
  const user = newName();
  const session = await newUser({ url: `${proxy.url}/`, user }).session({ key: "k" });
  await session.skills.get("failure-patterns", { reason: "a test", headers: { traceparent: "00-1" } });
  const { path, headers } = proxy.seen.at(-1)!;
  assert.equal(path, "/v1/skills/failure-patterns?peek=true");
  assert.deepEqual([headers["knowhow-user"], headers["knowhow-session"], headers["knowhow-reason"]], [user, session.id, "a test"]);
  assert.deepEqual([headers.authorization, headers.traceparent], [`Bearer ${process.env.KNOWHOW_API_KEY}`, "00-1"]);
});

test("a token may come from a function, for each request", async () => {
  await using proxy = await faultyProxy();
  const tokens = ["kh_wrong_wrong", process.env.KNOWHOW_TOKEN!];
  const client = new kh.Knowhow({ url: proxy.url, token: async () => tokens.shift()! });
  await assert.rejects(client.skills.list().all(), kh.UnauthenticatedError);
  await client.skills.list();
  assert.equal(proxy.seen[1]!.headers["knowhow-user"], undefined);
});
