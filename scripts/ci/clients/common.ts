// What both clients in TypeScript need of Node.js, without its types.
declare function require(name: string): any;
declare const process: { env: Record<string, string>; exit(code: number): never };

export const env = process.env;

/** The bytes of a client's zip. */
export function archive(name: string): Uint8Array<ArrayBuffer> {
  return require("node:fs").readFileSync(`${env.KNOWHOW_WORK}/${name}.zip`);
}

/** Ends the run where something is not as documented. */
export function check(holds: boolean, found: unknown): void {
  if (!holds) {
    console.error(new Error("not as documented"), found);
    process.exit(1);
  }
}
