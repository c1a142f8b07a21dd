/** Users of the served instance, and a proxy in front of it that loses answers or refuses requests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Knowhow, type KnowhowOptions } from "@knowhow/client";

let users = 0;

/** Returns a client of a new user without starter skills in the way of the test. */
export function newUser(options: KnowhowOptions = {}): Knowhow {
  return new Knowhow({ user: newName(), ...options });
}

/** Returns a name that no other test uses. */
export function newName(): string {
  return `ts-${process.pid}-${Date.now().toString(36)}-${users++}`;
}

/** Returns a client of the tenant's admin. */
export function admin(): Knowhow {
  return new Knowhow({ token: process.env.KNOWHOW_TENANT_ADMIN_TOKEN });
}

/** Returns the body of a save. */
export function skill(name: string, content = `# ${name}\n\n1. Do it.\n`) {
  return { name, description: `Does ${name}. Use when the user asks for ${name}.`, content };
}

/** Runs a function with a temporary folder. */
export async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "knowhow-client-"));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A treatment of a request: forward it, lose the answer of the service, close the connection, never answer, or answer at once. */
export type Fault = "forward" | "lose" | "refuse" | "hang" | { status: number; headers?: Record<string, string>; body?: string | Uint8Array };

export interface Proxy extends AsyncDisposable {
  url: string;
  /** Requests so far, with the headers that came. */
  seen: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[];
}

/** Starts a proxy that applies the faults to the first requests, and forwards all others. */
export async function faultyProxy(...faults: Fault[]): Promise<Proxy> {
  const seen: Proxy["seen"] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      seen.push({ method: request.method!, path: request.url!, headers: request.headers, body: body.toString() });
      await applyFault(faults.shift() ?? "forward", request, body, response);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: addressOf(server), seen, [Symbol.asyncDispose]: () => stop(server) };
}

/** Returns the URL of a server on this machine. */
export function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Stops a server and its connections. */
export async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function applyFault(fault: Fault, request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  if (fault === "hang") return;
  if (fault === "refuse") return void request.socket.destroy();
  if (typeof fault === "object") return void response.writeHead(fault.status, fault.headers).end(fault.body ?? "");
  const { host: _, connection: __, "content-length": ___, "transfer-encoding": ____, ...headers } = request.headers;
  const answer = await fetch(process.env.KNOWHOW_URL + request.url!, {
    method: request.method!,
    headers: headers as Record<string, string>,
    ...(body.length > 0 && { body }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (fault === "lose") return void request.socket.destroy();
  response.writeHead(answer.status, Object.fromEntries([...answer.headers].filter(([name]) => name !== "content-encoding")));
  response.end(bytes);
}
