// A chat with the Vercel AI SDK on Knowhow: npm install && npm start
//
// KNOWHOW_URL, KNOWHOW_API_KEY and KNOWHOW_USER name the service and the user (`make run` prints them). MODEL names a model of the AI
// Gateway, such as openai/gpt-5; without it a fake model shows what a model would receive.
import { createInterface } from "node:readline/promises";
import { Knowhow } from "@knowhow/client";
import { knowhowMiddleware, knowhowTools } from "@knowhow/client/ai-sdk";
import { gateway, isStepCount, type ModelMessage, streamText, wrapLanguageModel } from "ai";
import { fakeModel } from "./fake_model.ts";

const kh = new Knowhow();
await kh.skills.save({
  name: "plan-meeting",
  description: "Plans a meeting. Use when the user wants to meet somebody.",
  content: "1. Ask who comes.\n2. Propose two dates.\n",
});

// The same key continues the conversation, also in another process. This agent has skill_view, skill_list and skill_suggest.
const session = await kh.session({ key: "example-ai-sdk", channel: "chat", tools: "read" });
const model = wrapLanguageModel({
  model: process.env.MODEL ? gateway(process.env.MODEL) : fakeModel(),
  middleware: knowhowMiddleware(session, { untrustedTools: ["web_search"] }),
});
const tools = await knowhowTools(session);
const messages: ModelMessage[] = [];

const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "you: " });
lines.prompt();
for await (const line of lines) {
  messages.push({ role: "user", content: line });
  // The session's budget ends the loop. This limit is only a second net.
  const result = streamText({ model, system: "You are the assistant of a small office.", messages, tools, stopWhen: isStepCount(25) });
  process.stdout.write("agent: ");
  for await (const text of result.textStream) process.stdout.write(text);
  process.stdout.write("\n");
  messages.push(...(await result.responseMessages));
  lines.prompt();
}
lines.close();
