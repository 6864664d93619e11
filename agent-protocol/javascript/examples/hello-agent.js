#!/usr/bin/env node
// Serves a counter on a TCP port: each connection gets the next number, and no number is given away
// twice.
//
// usage: hello-agent.js PORT FILE, where FILE holds the last number that was given away. Upgrades,
// crashes and power cuts repeat no number, since a number is on the disk before it is sent. A
// number that was written, but not sent before a crash, is skipped.

import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

import { Agent } from '../index.js';

const [port, file] = process.argv.slice(2);
const agent = Agent.open('1.0');

function last() {
  if (!fs.existsSync(file)) return 0;
  const number = Number(fs.readFileSync(file, 'ascii'));
  if (!Number.isSafeInteger(number)) throw new Error(`${file} holds no number`);
  return number;
}

// Writes the next number to the disk, and then returns the number. Every call here is synchronous,
// so that two connections cannot get the same number.
function next() {
  const number = last() + 1;
  const fresh = fs.openSync(`${file}.new`, 'w');
  fs.writeSync(fresh, String(number));
  fs.fsyncSync(fresh);
  fs.closeSync(fresh);
  fs.renameSync(`${file}.new`, file);
  const directory = fs.openSync(path.dirname(path.resolve(file)), 'r');
  fs.fsyncSync(directory);
  fs.closeSync(directory);
  return number;
}

const server = net.createServer((connection) => {
  connection.on('error', () => {}); // the client has gone: its number is skipped
  // Once the number is sent, the connection is closed. A client that keeps its own end open must not
  // delay the stop.
  connection.end(`${next()}\n`, () => connection.destroy());
});

agent.addCheck('counter', () => {
  try {
    last();
    return null;
  } catch (error) {
    return error.message;
  }
});
await agent.ready();
let watchdog, beats; // set only if heartbeats are wanted
for await (const event of agent) {
  if (event.type === 'welcome') {
    watchdog = event.watchdog;
  } else if (event.type === 'activate') {
    server.listen(Number(port), '127.0.0.1');
    if (watchdog) beats = setInterval(() => agent.heartbeat(), watchdog / 3);
  } else if (event.type === 'stop') {
    clearInterval(beats);
    await new Promise((resolve) => server.close(resolve)); // open connections are finished
    await agent.stopped();
    process.exit(0);
  }
}
