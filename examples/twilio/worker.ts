// A worker for SMS and calls of Twilio on Knowhow: npm install && npm start
//
// KNOWHOW_URL and KNOWHOW_API_KEY name the service (`make run` prints them), TWILIO_AUTH_TOKEN and PUBLIC_URL the account and where Twilio
// reaches this worker. A number's webhook for messages is PUBLIC_URL/sms, that for calls PUBLIC_URL/voice. MODEL names a model of the AI
// Gateway, such as openai/gpt-5; without it the answer is the first step of a skill.
import { createServer, type IncomingMessage } from "node:http";
import { Knowhow } from "@knowhow/client";
import { knowhowTools } from "@knowhow/client/ai-sdk";
import { ConversationRelay, isSigned, type Question, smsWebhook } from "@knowhow/client/twilio";
import { gateway, isStepCount, streamText } from "ai";
import { WebSocketServer } from "ws";

const authToken = process.env.TWILIO_AUTH_TOKEN ?? "";
const publicUrl = process.env.PUBLIC_URL ?? "http://127.0.0.1:3000";
const kh = new Knowhow();

/** Asks the model, within the budget of rounds. This agent can read skills. */
async function ask({ messages: [system, ...messages], session, maxTurns, signal }: Question) {
  const tools = await knowhowTools(session);
  const model = gateway(process.env.MODEL!);
  return streamText({ model, system: system!.content, messages, tools, stopWhen: isStepCount(maxTurns), abortSignal: signal });
}

/** Returns the first step of the skill in the last message. */
function firstStep({ messages }: Question): string {
  return /^1\. (.*)/m.exec(messages.at(-1)!.content)?.[1] ?? "I know no procedure for that.";
}

const onSms = smsWebhook(kh, {
  authToken,
  url: `${publicUrl}/sms`,
  system: "You are the assistant of a small office and answer by SMS.",
  session: { tools: "read" },
  async answer(question) {
    if (!process.env.MODEL) return firstStep(question);
    const result = await ask(question);
    const steps = await result.steps;
    const toolCalls = steps.flatMap(({ content }) => content.filter(({ type }) => type === "tool-result" || type === "tool-error"));
    return { text: await result.text, rounds: steps.length, toolCalls: toolCalls.length };
  },
});

const server = createServer(async (request, response) => {
  try {
    const answer = request.url === "/sms" ? await onSms(await webRequest(request)) : new Response(relayTwiml, { headers: { "content-type": "text/xml" } });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  } catch (error) {
    console.error(error);
    response.writeHead(500).end(); // Twilio sends the message again
  }
});

const relayUrl = `${publicUrl.replace("http", "ws")}/relay`;
const relayTwiml = `<?xml version="1.0" encoding="UTF-8"?><Response><Connect><ConversationRelay url="${relayUrl}"/></Connect></Response>`;
const sockets = new WebSocketServer({ noServer: true });
server.on("upgrade", async (request, socket, head) => {
  const signature = String(request.headers["x-twilio-signature"] ?? "");
  if (!(await isSigned({ authToken, url: relayUrl, signature }))) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  sockets.handleUpgrade(request, socket, head, (call) => {
    const system = "You are the voice of a small office. Answer in one short sentence.";
    new ConversationRelay(kh, call, { system, session: { tools: "read" }, answer: spoken, onError: console.error });
  });
});

async function* spoken(question: Question): AsyncGenerator<string> {
  if (process.env.MODEL) yield* (await ask(question)).textStream;
  else yield firstStep(question);
}

async function webRequest(request: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return new Request(new URL(request.url!, publicUrl), { method: "POST", body: Buffer.concat(chunks), headers: request.headers as Record<string, string> });
}

server.listen(Number(process.env.PORT ?? 3000), () => console.log(`listening for ${publicUrl}`));
