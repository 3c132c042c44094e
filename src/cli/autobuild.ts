#!/usr/bin/env node
/** `autobuild` is `autodev build` under the name that plans know it by. */
const [first] = process.argv.slice(2);
if (first !== "--version" && first !== "-V") process.argv.splice(2, 0, "build");
require("./main.cjs");
