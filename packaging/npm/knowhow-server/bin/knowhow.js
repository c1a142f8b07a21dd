#!/usr/bin/env node
"use strict";
const { findProgram, run } = require("./program.js");

run(findProgram(), process.argv.slice(2));
