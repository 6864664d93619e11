#!/usr/bin/env node
// A web server that updates itself with npm. It speaks the agent protocol itself, and so needs no
// agentify. It answers every request with its version.
//
// self-updating-agent.js PORT [SECONDS]: looks for a newer version every SECONDS, by default every
// hour. Copy this file into a package that has @upgrader/agent-protocol among its dependencies: see
// README.md.

import http from 'node:http';
import { createRequire } from 'node:module';
import { Agent, update } from '@upgrader/agent-protocol';

const [port, seconds = 3600] = process.argv.slice(2);
const { version } = createRequire(import.meta.url)('./package.json');
const agent = Agent.open(version); // first of all
const server = http.createServer((request, response) => response.end(`${version}\n`));

async function look() {
  try {
    const { outcome, newest, stage, reason } = await update({ agent, keep: 3 });
    if (outcome === 'failed') console.error(`version ${newest} failed (${stage}): ${reason}`);
  } catch (error) {
    console.error(error.message); // this version keeps running, and tries again later
  }
  setTimeout(look, seconds * 1000);
}

await agent.ready();
let watchdog, beats; // set only if heartbeats are wanted
for await (const event of agent) {
  if (event.type === 'welcome') {
    watchdog = event.watchdog;
  } else if (event.type === 'activate') {
    server.listen(Number(port), '127.0.0.1');
    if (watchdog) beats = setInterval(() => agent.heartbeat(), watchdog / 3);
    look();
  } else if (event.type === 'stop') {
    clearInterval(beats);
    const closed = new Promise((resolve) => server.close(resolve)); // requests end first
    server.closeIdleConnections();
    await closed;
    await agent.stopped();
    process.exit(0);
  }
}
