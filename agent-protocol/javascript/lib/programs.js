// Runs the programs that an update needs: npm and agent-releases. A program gets its arguments
// unchanged, since no shell is started for it, and its standard input is empty. This file does not
// know what a program is run for.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';

// a list of a thousand releases is half a megabyte, so this is enough
const outputBytesMax = 16_777_216;
const reasonCharactersMax = 600; // the most that an error shows of a program's last lines

/** An update failed. `deed` names the step that failed, and `reason` says why. */
export class UpdateError extends Error {
  constructor(deed, reason) {
    super(`cannot ${deed}: ${reason}`);
    this.name = 'UpdateError';
    this.deed = deed;
    this.reason = reason;
  }
}

// Returns the path of one of the upgrader's own programs: in `directory` if it is given, otherwise
// in the npm package @upgrader/linux-ARCH. If the package does not have the program, returns its
// bare name, which is then looked up in PATH.
export function programPath(name, directory) {
  if (directory !== undefined) return path.join(directory, name);
  try {
    const found = createRequire(import.meta.url);
    const beside = found.resolve(`@upgrader/linux-${process.arch}/package.json`);
    const program = path.join(path.dirname(beside), 'bin', name);
    if (fs.existsSync(program)) return program;
  } catch {
    // The package @upgrader/linux-ARCH is not installed, so the program is looked up in PATH.
  }
  return name;
}

// Returns the text with a blank for each control character. Control characters could command a
// terminal, and an argument of a program cannot contain a NUL.
export function printable(text) {
  return text.replace(/\p{Cc}/gu, ' ');
}

// Returns the last lines of a program's output as one line.
export function lastWords(text) {
  const lines = text.split('\n')
    .map((line) => printable(line.replace(/^npm (ERR!|error) ?/, '')).trim())
    .filter((line) => line !== '' && !/^A complete log of this run/.test(line));
  return lines.join('; ').slice(-reasonCharactersMax);
}

function failureOf(error, stderr, command) {
  if (error.code === 'ENOENT') return `there is no program ${command}`;
  if (error.code === 'EACCES') return `${command} may not be executed`;
  if (error.code === 'ABORT_ERR') return 'it was interrupted';
  const words = lastWords(stderr);
  if (words) return words;
  if (error.signal) return `${command} was killed by ${error.signal}`;
  return error.code === undefined ? error.message : `${command} exited with status ${error.code}`;
}

// Returns the text that the program writes to its standard output. If the program fails, throws an
// UpdateError whose `status` is the exit status, or undefined if the program did not exit. The
// program is killed when `signal` aborts.
export function run(deed, command, words, { cwd, env = {}, signal } = {}) {
  return new Promise((resolve, reject) => {
    const settings = { cwd, env: { ...process.env, ...env }, signal, maxBuffer: outputBytesMax };
    const child = execFile(command, words, settings, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const failed = new UpdateError(deed, failureOf(error, stderr, command));
      if (Number.isInteger(error.code)) failed.status = error.code;
      reject(failed);
    });
    child.stdin?.on('error', () => {}).end();
  });
}

// Parses the JSON that a program has written. If the whole text is not JSON, parses its last line.
export function parsed(deed, text) {
  for (const part of [text, text.trim().split('\n').at(-1)]) {
    try {
      return JSON.parse(part);
    } catch {
      // The whole text is not JSON: the loop tries its last line next.
    }
  }
  throw new UpdateError(deed, `the answer is not JSON: ${lastWords(text).slice(0, 100)}`);
}
