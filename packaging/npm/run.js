// Finds the program NAME in the npm package for this processor, and executes it. From version 22.15
// on, Node.js is replaced by the program (execve). Earlier versions stay as its parent, pass
// signals on to it, and end with its status or signal. A service file should name the program
// itself, which needs no Node.js: see README.md.
'use strict';

const child_process = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

// Without a handler for SIGUSR1, Node.js would open its debugger to all users of the machine.
const PASSED_ON = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGCONT'];

function fail(reason) {
  process.stderr.write(`upgrader: ${reason}\n`);
  process.exit(127);
}

// Returns the directory with the programs, or ends the process with a message.
function directory() {
  const name = `@upgrader/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin');
  } catch {
    return fail(`the package ${name} is missing, which has the programs for this processor: ` +
                'install it beside @upgrader/upgrader');
  }
}

module.exports = function run(name) {
  const program = path.join(directory(), name);
  if (!fs.existsSync(program)) fail(`${program} is missing: its package has no ${name}`);
  const words = process.argv.slice(2);
  if (typeof process.execve === 'function') process.execve(program, [name, ...words], process.env);
  // A signal that arrives before the program has been started waits until this function returns.
  for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
  const child = child_process.spawn(program, words, {stdio: 'inherit', argv0: name});
  child.on('error', (error) => fail(`${program} cannot be executed: ${error.message}`));
  child.on('exit', (status, signal) => {
    if (signal === null) process.exit(status);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
};
