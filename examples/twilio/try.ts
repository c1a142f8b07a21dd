// Plays Twilio: sends the worker of this folder a signed SMS and a call, and prints the answers. Start it beside the worker.
import { createHmac, randomUUID } from "node:crypto";
import { WebSocket } from "ws";

const url = process.env.PUBLIC_URL ?? "http://127.0.0.1:3000";
const signed = (url: string, parameters: Record<string, string> = {}) => {
  const text = Object.keys(parameters).sort().map((name) => name + parameters[name]).join("");
  return { "x-twilio-signature": createHmac("sha1", process.env.TWILIO_AUTH_TOKEN!).update(url + text).digest("base64") };
};

const parameters = { From: "+49301234567", To: "+4930", Body: "use iterative-planning", MessageSid: randomUUID() };
const answer = await fetch(`${url}/sms`, { method: "POST", body: new URLSearchParams(parameters), headers: signed(`${url}/sms`, parameters) });
console.log("sms:", answer.status, await answer.text());

const relay = `${url.replace("http", "ws")}/relay`;
const call = new WebSocket(relay, { headers: signed(relay) });
call.on("open", () => {
  call.send(JSON.stringify({ type: "setup", callSid: randomUUID(), from: "+49301234567" }));
  call.send(JSON.stringify({ type: "prompt", voicePrompt: "hello there", last: true }));
});
let said = "";
call.on("message", (data) => {
  const { token, last } = JSON.parse(String(data)) as { token: string; last: boolean };
  said += token;
  if (!last) return;
  console.log("call:", said);
  call.close();
});
call.on("error", (error) => console.log("call:", error.message));
