#!/usr/bin/env node
// Starts the service with an embedded PostgreSQL, or stops both. Python fetches the server and the model as packages.
"use strict";
const { join } = require("node:path");
const { findProgram, run } = require("./program.js");

run(process.env.PYTHON || "python3", ["-B", "-m", "knowhow_server", ...process.argv.slice(2)], {
  KNOWHOW_PROGRAM: findProgram(),
  PYTHONPATH: join(__dirname, "../setup"),
});
