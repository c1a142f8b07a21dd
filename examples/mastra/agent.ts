// An agent of Mastra on Knowhow: npm install && npm start
//
// KNOWHOW_URL, KNOWHOW_API_KEY and KNOWHOW_USER name the service and the user (`make run` prints them). MODEL names a model of Mastra's
// router, such as openai/gpt-5; without it a fake model shows what a model would receive.
import { createInterface } from "node:readline/promises";
import { Knowhow } from "@knowhow/client";
import { KnowhowProcessor, KnowhowSkillSource, knowhowTools } from "@knowhow/client/mastra";
import { Agent } from "@mastra/core/agent";
import { Workspace } from "@mastra/core/workspace";
import { fakeModel } from "./fake_model.ts";

const kh = new Knowhow();
await kh.skills.save({
  name: "plan-meeting",
  description: "Plans a meeting. Use when the user wants to meet somebody.",
  content: "1. Ask who comes.\n2. Propose two dates.\n",
});

// A workspace reads the skills as files, for Mastra's own tools and editors.
const workspace = new Workspace({ skills: ["skills/**/SKILL.md"], skillSource: new KnowhowSkillSource(kh) });
console.log("skills:", (await workspace.skills!.list()).map(({ name }) => name).join(", "));

// The same key continues the conversation, also in another process. This agent has skill_view, skill_list and skill_suggest.
const session = await kh.session({ key: "example-mastra", channel: "chat", tools: "read" });
const agent = new Agent({
  id: "office",
  name: "office",
  instructions: "You are the assistant of a small office.",
  model: process.env.MODEL ?? fakeModel(),
  tools: await knowhowTools(session),
  inputProcessors: [new KnowhowProcessor(session, { untrustedTools: ["web_search"] })],
});
const messages: ({ role: "user"; content: string } | { role: "assistant"; content: string })[] = [];

const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "you: " });
lines.prompt();
for await (const line of lines) {
  messages.push({ role: "user", content: line });
  // The session's budget ends the loop. This limit is only a second net.
  const result = await agent.stream(messages, { maxSteps: 25 });
  process.stdout.write("agent: ");
  for await (const text of result.textStream) process.stdout.write(text);
  process.stdout.write("\n");
  messages.push({ role: "assistant", content: await result.text });
  lines.prompt();
}
lines.close();
