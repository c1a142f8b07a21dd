import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import type * as kh from "@knowhow/client";
import { ConversationRelay, type ConversationRelayOptions, isSigned, type Question, type SmsOptions, smsWebhook } from "@knowhow/client/twilio";
import twilio from "twilio";
import { WebSocket, WebSocketServer } from "ws";
import { addressOf, faultyProxy, newName, newUser, skill } from "../support.js";

const TOKEN = "12345";
const URL = "https://office.example.com/sms?line=1";
let numbers = Date.now() % 1e9;
const newNumber = () => `+49${numbers++}`;

/** A webhook, as Twilio calls it; `prompts` has the messages of each question. */
function hook(client: kh.Knowhow, from: string, options: Partial<SmsOptions> = {}) {
  const prompts: Question["messages"][] = [];
  const answer = async (question: Question) => {
    prompts.push(question.messages);
    return options.answer?.(question) ?? `answer ${prompts.length}`;
  };
  const handle = smsWebhook(client, { authToken: TOKEN, url: URL, session: { tools: "read" }, ...options, answer });
  const send = async (Body: string, MessageSid = newName(), token = TOKEN): Promise<Response> => {
    const parameters = { From: from, To: "+4930", Body, MessageSid, NumMedia: "0" };
    const headers = { "x-twilio-signature": twilio.getExpectedTwilioSignature(token, URL, parameters) };
    return handle(new Request("http://10.0.0.1/sms", { method: "POST", body: new URLSearchParams(parameters), headers }));
  };
  return { prompts, send, text: async (body: string, sid?: string) => (await send(body, sid)).text().then(messageOf) };
}

/** Returns the message of a TwiML document. */
function messageOf(xml: string): string {
  const [, text = ""] = /<Response><Message>([^]*)<\/Message><\/Response>$/.exec(xml) ?? [];
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

function assertContinues(prompts: Question["messages"][]): void {
  for (let n = 1; n < prompts.length; n++) assert.deepEqual(prompts[n]!.slice(0, prompts[n - 1]!.length), prompts[n - 1]);
}

test("messages of a number are one conversation with one snapshot", async () => {
  const [client, from] = [newUser(), newNumber()];
  const user = client.withUser(from);
  await user.skills.save(skill("weather"));
  const { prompts, text } = hook(client, from, { system: "You answer by SMS." });
  assert.equal(await text("use weather"), "answer 1");
  assert.equal(await text("thanks"), "answer 2");
  // A new process reads the conversation from the service.
  const again = hook(client, from, { system: "You answer by SMS.", answer: async () => "5 < 6 & 7 > 6\u0001" });
  assert.equal(await again.text("use failure-patterns"), "5 < 6 & 7 > 6");
  assertContinues([...prompts, ...again.prompts]);

  const [session] = await user.sessions.list().all();
  const opened = await user.sessions.get(session!.id);
  assert.equal(opened.record.channel, "sms");
  const turns = await Promise.all([1, 2, 3].map((n) => opened.getTurn(n)));
  assert.match(turns[0]!.text, /1\. Do it\./);
  assert.deepEqual(again.prompts[0], [
    { role: "system", content: `You answer by SMS.\n\n${opened.snapshot.text}` },
    { role: "user", content: `use weather\n\n${turns[0]!.text}` },
    { role: "assistant", content: "answer 1" },
    { role: "user", content: "thanks" },
    { role: "assistant", content: "answer 2" },
    { role: "user", content: `use failure-patterns\n\n${turns[2]!.text}` },
  ]);
});

test("a message that is delivered twice is answered once", async () => {
  const [client, from] = [newUser(), newNumber()];
  const { prompts, text } = hook(client, from);
  const sid = newName();
  assert.deepEqual(await Promise.all([text("hello there", sid), text("hello there", sid)]), ["answer 1", "answer 1"]);
  const restarted = hook(client, from);
  assert.equal(await restarted.text("hello there", sid), "answer 1");
  assert.deepEqual([prompts.length, restarted.prompts.length], [1, 0]);
  // A process that died before its answer is followed by one that answers the same turn.
  const dying = hook(client, from, { answer: async () => Promise.reject(new Error("died")) });
  const next = newName();
  await assert.rejects(dying.send("are you there?", next), /died/);
  assert.equal(await text("are you there?", next), "answer 2");
  const [session] = await client.withUser(from).sessions.list().all();
  assert.equal(session!.turns, 2);
});

test("a request that Twilio did not sign is refused", async () => {
  const [client, from] = [newUser(), newNumber()];
  const { prompts, send } = hook(client, from);
  assert.equal((await send("hello", "SM1", "another token")).status, 403);
  assert.equal(prompts.length, 0);
  const parameters = { Body: "ä b", From: "+1" };
  const signature = twilio.getExpectedTwilioSignature(TOKEN, URL, parameters);
  assert.equal(await isSigned({ authToken: TOKEN, url: URL, parameters, signature }), true);
  assert.equal(await isSigned({ authToken: TOKEN, url: URL, parameters: { ...parameters, Body: "c" }, signature }), false);
  assert.equal(await isSigned({ authToken: TOKEN, url: `${URL}&x`, parameters, signature }), false);
  assert.equal(await isSigned({ authToken: TOKEN, url: URL, parameters, signature: "" }), false);
  assert.equal(await isSigned({ authToken: "", url: URL, parameters, signature }), false);
  assert.throws(() => hook(client, from, { authToken: "" }), /authToken is empty/);
});

test("loads, outcomes, taint, the budget and tools belong to the session", async () => {
  const [client, from] = [newUser(), newNumber()];
  const user = client.withUser(from);
  await user.skills.save(skill("descale-kettle"));
  const { text } = hook(client, from, {
    answer: async ({ session, maxTurns }) => {
      await session.skills.load("descale-kettle");
      await session.used("descale-kettle", "success");
      await session.taint("a web page");
      const change = await session.skills.save(skill("from-the-web"));
      return { text: `${change.status} ${maxTurns}`, rounds: 3, toolCalls: [{ name: "web", ok: true }] };
    },
  });
  assert.equal(await text("white stuff floats in my tea"), "waiting 10");
  assert.equal((await user.skills.get("descale-kettle")).times_used >= 2, true);
  const [session] = await user.sessions.list().all();
  const log = await (await user.sessions.get(session!.id)).messages().all();
  assert.equal(log.find(({ speaker }) => speaker === "agent")?.rounds, 3);
});

test("a long conversation is shortened, and shows texts again", async () => {
  const [client, from] = [newUser(), newNumber()];
  await client.withUser(from).skills.save(skill("weather"));
  const { prompts, text } = hook(client, from, { historyLength: 2 });
  for (const message of ["use weather", "thanks", "thanks again", "use weather now"]) await text(message);
  assert.doesNotMatch(JSON.stringify(prompts[3]!.slice(0, -1)), /1\. Do it\./);
  assert.match(prompts[3]!.at(-1)!.content, /1\. Do it\./);
});

test("a session that ended elsewhere is followed by one with a summary", async () => {
  const [client, from] = [newUser(), newNumber()];
  const { prompts, text } = hook(client, from);
  await text("the code is 4711");
  const [session] = await client.withUser(from).sessions.list().all();
  await (await client.withUser(from).sessions.get(session!.id)).end();
  assert.equal(await text("what was the code?"), "answer 2");
  assert.match(prompts[1]![0]!.content, /4711/);
});

test("senders without a number share no user", async () => {
  const client = newUser();
  const seen: string[] = [];
  for (const from of ["anonymous", "+266696687"]) {
    const { text } = hook(client, from, { answer: async ({ session }) => (seen.push(session.record.key), "fine") });
    await text("hello there");
  }
  assert.equal(new Set(seen).size, 2);
  assert(!seen.includes("anonymous"));
});

/** A call, as Twilio holds it: a real WebSocket. */
async function call(client: kh.Knowhow, from: string, options: ConversationRelayOptions) {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  const relay = new Promise<ConversationRelay>((resolve) => server.on("connection", (socket) => resolve(new ConversationRelay(client, socket, options))));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const socket = new WebSocket(addressOf(http).replace("http", "ws"));
  await once(socket, "open");
  const spoken: string[] = [];
  let said = "";
  socket.on("message", (data) => {
    const { token, last } = JSON.parse(String(data)) as { token: string; last: boolean };
    said += token;
    if (last) [said] = ["", spoken.push(said)];
  });
  const send = (message: object) => socket.send(JSON.stringify(message));
  send({ type: "setup", callSid: newName(), from, sessionId: "VX1" });
  return {
    send,
    prompt: (voicePrompt: string, last = true) => send({ type: "prompt", voicePrompt, lang: "en", last }),
    async spoken(count: number): Promise<string[]> {
      while (spoken.length < count) await once(socket, "message");
      return spoken;
    },
    async hangUp(): Promise<kh.Message[]> {
      socket.close();
      await (await relay).closed;
      http.close();
      const user = client.withUser(from);
      const [session] = await user.sessions.list().all();
      assert(session?.ended_at, "the session ends with the call");
      const log = await (await user.sessions.get(session.id)).messages().all();
      return log.toSorted((a, b) => a.turn - b.turn || (a.speaker < b.speaker ? 1 : -1));
    },
  };
}

test("a call is a session, whose answers are spoken word by word", async () => {
  const [client, from] = [newUser(), newNumber()];
  await client.withUser(from).skills.save(skill("weather"));
  const prompts: Question["messages"][] = [];
  async function* answer({ messages, maxTurns }: Question) {
    prompts.push(messages);
    yield* ["It ", "rains, ", String(maxTurns)];
  }
  const line = await call(client, from, { answer, system: "You answer calls.", timeoutMs: 5000 });
  line.prompt("use ", false);
  line.prompt("weather");
  await line.spoken(1);
  line.prompt("thanks");
  assert.deepEqual(await line.spoken(2), ["It rains, 6", "It rains, 6"]);
  assertContinues(prompts);
  assert.match(prompts[0]!.at(-1)!.content, /^use weather\n\n<knowhow>[^]*1\. Do it\./);
  const log = await line.hangUp();
  assert.deepEqual(log.map(({ text }) => text), ["use weather", "It rains, 6", "thanks", "It rains, 6"]);
});

test("the log has what the caller heard of an answer", async () => {
  const [client, from] = [newUser(), newNumber()];
  async function* answer({ message, signal }: Question): AsyncGenerator<string> {
    if (message !== "tell me a story") return yield "Fine.";
    yield "Once upon ";
    await once(signal, "abort");
    yield "a time";
  }
  const line = await call(client, from, { answer, timeoutMs: 5000 });
  line.prompt("tell me a story");
  await new Promise((resolve) => setTimeout(resolve, 500));
  line.send({ type: "interrupt", utteranceUntilInterrupt: "Once", durationUntilInterruptMs: 200 });
  line.prompt("stop, please");
  while (!(await line.spoken(1)).at(-1)!.endsWith("Fine.")) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual((await line.hangUp()).map(({ text }) => text), ["tell me a story", "Once", "stop, please", "Fine."]);
});

test("a caller does not wait for a turn that is late, which is logged later", async () => {
  const from = newNumber();
  await using proxy = await faultyProxy("forward", "hang");
  const prompts: Question["messages"][] = [];
  const errors: unknown[] = [];
  const answer = async ({ messages }: Question) => (prompts.push(messages), "Hello.");
  const line = await call(newUser({ url: proxy.url }), from, { answer, timeoutMs: 300, onError: (error) => errors.push(error) });
  const began = Date.now();
  line.prompt("use failure-patterns");
  await line.spoken(1);
  assert(Date.now() - began < 5000);
  assert.doesNotMatch(prompts[0]!.at(-1)!.content, /knowhow/);
  line.send({ type: "nonsense" });
  assert.deepEqual((await line.hangUp()).map(({ text, turn }) => [turn, text]), [[1, "use failure-patterns"], [1, "Hello."]]);
  assert.deepEqual(errors, []);
});
