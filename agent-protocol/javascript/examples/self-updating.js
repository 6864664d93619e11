#!/usr/bin/env node
// A web server that updates itself with npm. It answers every request with its version.
//
// self-updating.js PORT [SECONDS]: looks for a newer version every SECONDS, by default every hour.
// Copy this file into a package that has @upgrader/agent-protocol among its dependencies: see
// README.md.

import http from 'node:http';
import { createRequire } from 'node:module';
import { update } from '@upgrader/agent-protocol';

const [port, seconds = 3600] = process.argv.slice(2);
const { version } = createRequire(import.meta.url)('./package.json');

async function look() {
  try {
    const { outcome, newest, stage, reason } = await update({ keep: 3 });
    if (outcome === 'failed') console.error(`version ${newest} failed (${stage}): ${reason}`);
  } catch (error) {
    console.error(error.message); // this version keeps running, and tries again later
  }
  setTimeout(look, seconds * 1000);
}

const server = http.createServer((request, response) => response.end(`${version}\n`));
server.listen(Number(port), '127.0.0.1', look);
