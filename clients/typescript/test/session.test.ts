import assert from "node:assert/strict";
import { test } from "node:test";
import * as kh from "@knowhow/client";
import { newUser, skill } from "./support.js";

test("a conversation has one snapshot, a turn for each message, and a log", async () => {
  const client = newUser();
  await client.skills.save(skill("weather"));
  const session = await client.session({ key: "thread", channel: "chat", tools: "read", maxTurns: 7 });
  assert.deepEqual([session.resumed, session.record.max_turns, session.record.tools], [false, 7, "read"]);
  assert.equal(session.system("You are brief."), `You are brief.\n\n${session.snapshot.text}`);
  assert.match(session.snapshot.text, /- weather: /);

  const turn = await session.turn("use weather for today", { turnKey: "m1", deadlineMs: 400 });
  assert.equal(turn.turn, 1);
  assert.match(turn.text, /1\. Do it\./);
  assert.deepEqual(await session.turn("use weather for today", { turnKey: "m1" }), turn);
  assert.deepEqual(await session.getTurn(1), turn);
  await session.reply("It rains.", { rounds: 2, toolCalls: [{ name: "forecast", ok: true, ms: 12 }] });
  await session.feedback("thumbs_up", { note: "right" });

  const again = await client.session({ key: "thread" });
  assert.deepEqual([again.resumed, again.id, again.snapshot.text], [true, session.id, session.snapshot.text]);
  assert.equal((await client.sessions.get(session.id)).snapshot.sha256, session.snapshot.sha256);
  const log = await session.messages({ limit: 1 }).all();
  assert.deepEqual(log.map(({ speaker, text }) => [speaker, text]), [["user", "use weather for today"], ["agent", "It rains."]]);
  assert.equal(log[1]?.rounds ?? log[0]?.rounds, 2);
  assert.equal((await client.sessions.list({ open: true, key: "thread" })).items[0]?.id, session.id);

  assert((await session.end()).ended_at);
  await assert.rejects(session.turn("and tomorrow?"), kh.SessionEndedError);
  const next = await session.reopen();
  assert.notEqual(next.id, session.id);
  assert.equal(next.record.tools, "read");
  assert(next.previousSummary && next.system().includes(next.previousSummary.text));
});

test("texts are shown again after the context was reset", async () => {
  const client = newUser();
  await client.skills.save(skill("weather"));
  const session = await client.session({});
  assert.match((await session.turn("use weather")).text, /1\. Do it\./);
  assert.doesNotMatch((await session.turn("use weather again, please")).text, /1\. Do it\./);
  session.resetContext();
  assert.match((await session.turn("use weather once more")).text, /1\. Do it\./);
});

test("loads and outcomes of a session are counted, and teach", async () => {
  const client = newUser();
  await client.skills.save(skill("descale-kettle"));
  const session = await client.session({ key: "k", tools: "read" });
  await session.turn("white stuff floats in my tea");
  await session.skills.load("descale-kettle");
  await session.used("descale-kettle", "success");
  assert.equal((await client.skills.get("descale-kettle")).times_used, 2);
  const examples = await client.request<{ items: { text: string }[] }>({ method: "GET", path: "/v1/skills/descale-kettle/examples" });
  assert.match(JSON.stringify(examples.items), /white stuff floats/);
});

test("changes of a tainted session wait, visibly", async () => {
  const client = newUser();
  const session = await client.session({ key: "mail" });
  await session.turn("read this mail", { taintedBy: ["a mail"] });
  await session.taint("https://example.com");
  const change = await session.skills.save(skill("from-the-web"));
  assert(change.status === "waiting");
  assert.equal(change.submission.state, "needs_review");
  await assert.rejects(client.skills.get("from-the-web"), kh.NotFoundError);
  assert.equal((await session.memories.save({ content: "The code is 1234." })).tainted, true);
  assert.equal((await session.soul.put({ text: "Be kind.", expected_version: 0 })).tainted, true);
});

test("a session without a key ends with its block, one with a key stays open", async () => {
  const client = newUser();
  let id: string;
  {
    await using session = await client.session({ channel: "voice" });
    await session.turn("hello there");
    id = session.id;
  }
  assert((await client.sessions.get(id)).record.ended_at);
  {
    await using session = await client.session({ key: "+49" });
    id = session.id;
  }
  assert(!(await client.sessions.get(id)).record.ended_at);
  {
    await using session = await client.session({ key: "+49", endOnDispose: true });
    assert.equal(session.id, id);
  }
  assert((await client.sessions.get(id)).record.ended_at);
});

test("agents without sessions read the snapshot", async () => {
  assert.match((await newUser().snapshot({ tools: "full" })).text, /^<knowhow>/);
});
