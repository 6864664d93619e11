// By the mark a process knows that it has been an agent: opening the conversation takes the
// upgrader's variables out of the environment, so what an agent executes in its own place would find
// no upgrader, and activate itself beside the one that is active. What the agent starts inherits the
// mark, and is another process.

import fs from 'node:fs';
import process from 'node:process';

const variable = 'LIBAGENT_PROTOCOL_PROCESS';
const unknownStart = '0';
const startField = 22; // which executing a program leaves as it is

function startOfProcess() {
  try {
    const line = fs.readFileSync('/proc/self/stat', 'latin1');
    // The name may hold blanks, too.
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[startField - 3] ?? unknownStart;
  } catch {
    return unknownStart;
  }
}

export function leave() {
  process.env[variable] = `${process.pid} ${startOfProcess()}`;
}

export function isLeft() {
  const [number, start] = (process.env[variable] ?? '').split(' ');
  const own = startOfProcess();
  const same = start === own || start === unknownStart || own === unknownStart;
  return number === String(process.pid) && same;
}
