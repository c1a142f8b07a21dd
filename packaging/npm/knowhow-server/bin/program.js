// Finds the program in the package of this platform, and runs commands in place of this process.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

/** Returns the path of the program; exits with an explanation if no package has one for this platform. */
function findProgram() {
  const name = `knowhow-server-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/knowhow`);
  } catch {
    console.error(
      `error: the package ${name} is not installed. Reinstall without --omit=optional; if that does not help, ` +
        "this platform has no program.",
    );
    process.exit(1);
  }
}

/** Runs a command with the streams of this process, passes signals on, and exits as the command does. */
function run(command, args, environment = {}) {
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...environment } });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    const advice = error.code === "ENOENT" ? ": install it and try again" : "";
    console.error(`error: cannot run '${command}' (${error.code})${advice}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
}

module.exports = { findProgram, run };
