// Controls pm2 through pm2's JavaScript interface. Each line of standard input is a request, and is
// answered by a line of JSON on standard output. PM2 in the environment names the directory of the
// package.
//   start SCRIPT [MILLISECONDS]    starts the service as pm2's documentation advises for reloads
//                   without downtime; with MILLISECONDS, pm2 waits that long before it restarts the
//                   service, and longer after each further failure
//   restart         reload         delete         state
// At the end of input, pm2 and the programs that it runs are ended.
'use strict';

const readline = require('node:readline');
const pm2 = require(process.env.PM2);

const name = 'web';

function state() {
  return new Promise((resolve) => pm2.describe(name, (error, found) => {
    const env = found?.[0]?.pm2_env;
    resolve({ status: env?.status ?? 'absent', restarts: env?.restart_time ?? 0 });
  }));
}

function call(verb, ...words) {
  return new Promise((resolve) => pm2[verb](...words, async (error) => {
    resolve({ error: error ? String(error.message ?? error) : undefined, ...await state() });
  }));
}

const requests = {
  start: (script, delay) => call('start', {
    name, script, exec_mode: 'cluster', instances: 1, wait_ready: true, listen_timeout: 10_000,
    min_uptime: 10_000, autorestart: true,
    ...delay && { exp_backoff_restart_delay: Number(delay) },
  }),
  restart: () => call('restart', name),
  delete: () => call('delete', name),
  reload: () => call('reload', name),
  state,
};

pm2.connect((failed) => {
  if (failed) throw failed;
  let last = Promise.resolve();
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const [verb, ...words] = line.split(' ');
    last = last.then(() => requests[verb](...words))
      .then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`));
  });
  lines.on('close', () => last.then(() => pm2.killDaemon(() => process.exit(0))));
});
