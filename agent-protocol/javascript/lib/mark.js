// The mark by which a process knows that it has been an agent. It is needed because opening the
// conversation removes the upgrader's variables from the environment: a program that an agent
// executes in its own place would find no upgrader, and activate itself beside the agent that is
// active. Processes that the agent starts inherit the mark, which names the agent's pid. They have
// other pids, so they are not taken for the agent.

import fs from 'node:fs';
import process from 'node:process';

const variable = 'LIBAGENT_PROTOCOL_PROCESS';
const unknownStart = '0';
const startField = 22; // unchanged when the process executes another program

function startOfProcess() {
  try {
    const line = fs.readFileSync('/proc/self/stat', 'latin1');
    // The program's name, in parentheses, may contain blanks, so fields are counted after it.
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
