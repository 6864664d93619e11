// Leaves and finds the mark by which a process recognizes that it has been an agent. Opening the
// conversation removes the upgrader's variables from the environment. Without the mark, a program
// that an agent executes in its own place would find no upgrader, and activate itself although
// another agent may be active. The mark is an environment variable with this process's pid and
// start time. Child processes inherit it, but have other pids, so they are not taken for the agent.

import fs from 'node:fs';
import process from 'node:process';

const variable = 'LIBAGENT_PROTOCOL_PROCESS';
const unknownStart = '0';
const startField = 22; // the start time, which stays when the process executes a new program

function startOfProcess() {
  try {
    const line = fs.readFileSync('/proc/self/stat', 'latin1');
    // The second field is the program's name in parentheses, which may contain blanks. So fields
    // are counted after the name.
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[startField - 3] ?? unknownStart;
  } catch {
    return unknownStart;
  }
}

export function leave() {
  process.env[variable] = `${process.pid} ${startOfProcess()}`;
}

// Returns true if the parent of this process has been an agent.
export function isOfParent() {
  return (process.env[variable] ?? '').split(' ')[0] === String(process.ppid);
}

export function isLeft() {
  const [number, start] = (process.env[variable] ?? '').split(' ');
  const own = startOfProcess();
  const same = start === own || start === unknownStart || own === unknownStart;
  return number === String(process.pid) && same;
}
