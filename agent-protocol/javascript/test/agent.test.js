import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import * as consumers from 'node:stream/consumers';
import test from 'node:test';

const library = new URL('../index.js', import.meta.url);
const welcome = { type: 'welcome', protocol: 1, features: [], generation: 1, role: 'first' };
const activate = { type: 'activate', clean: false };

// Returns the descriptor of a new FIFO, which is open for reading and writing.
function newFifo(directory, name) {
  const fifo = path.join(directory, name);
  execFileSync('mkfifo', [fifo]);
  return fs.openSync(fifo, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
}

// In these tests each agent is a process, and the test takes the part of the upgrader.

// Runs the program under a fake upgrader that has written these messages to the agent's input.
// Returns the types of the agent's messages, and the text that the agent has printed. The pipes are
// FIFOs made by the test, because spawn() would make sockets.
async function played(program, ...messages) {
  return playedWith({}, program, ...messages);
}

// Does the same as played(), except that a `stdin` or `stderr` of 'pipe' makes that descriptor of
// the agent a socket. A `stderr` may also be the descriptor of a file, which then gets the text that
// the agent prints.
async function playedWith({ stdin, stderr }, program, ...messages) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-test-'));
  const [input, output, printed] = ['in', 'out', 'err'].map((name) => newFifo(directory, name));
  for (const message of messages) fs.writeSync(input, `${JSON.stringify(message)}\n`);
  const code = `import { Agent } from '${library}';${program}`;
  const agent = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: [stdin ?? input, output, stderr ?? printed],
    env: { ...process.env, AGENT_PROTOCOL: '1' },
    timeout: 60_000,
    killSignal: 'SIGKILL', // an agent takes SIGTERM as a request
  });
  const text = agent.stderr ? await consumers.text(agent.stderr) : '';
  if (agent.exitCode === null && agent.signalCode === null) await once(agent, 'exit');
  const read = (number) => {
    fs.writeSync(number, '\n'); // so that there is always something to read
    const bytes = Buffer.alloc(65_536);
    return bytes.toString('utf8', 0, fs.readSync(number, bytes) - 1);
  };
  const lines = read(output).split('\n').filter((line) => line !== '');
  const played = {
    said: lines.map((line) => JSON.parse(line).type),
    printed: text + read(printed),
    status: agent.exitCode,
  };
  for (const number of [input, output, printed]) fs.closeSync(number);
  fs.rmSync(directory, { recursive: true });
  return played;
}

test('a second ready() runs the checks again if a check has thrown', async () => {
  const { said, printed } = await played(
    `const agent = Agent.open('1.0');
    agent.addCheck('database', () => { throw new Error('no database'); });
    for (const attempt of [1, 2]) await agent.ready().catch(({ message }) => console.error(message));
    process.exit(0);`,
    welcome,
  );
  assert.deepEqual(said, ['hello']);
  assert.equal(printed, 'no database\nno database\n');
});

test('a ready() that is called while the first one runs the checks runs them, too', async () => {
  const { said } = await played(
    `const agent = Agent.open('1.0');
    agent.addCheck('database', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return 'no database';
    });
    await Promise.allSettled([agent.ready(), agent.ready()]);
    process.exit(0);`,
    welcome,
  );
  assert.deepEqual(said, ['hello', 'unfit']);
});

test('a check that returns anything but null and undefined has failed', async () => {
  for (const wrong of ["''", 'false']) {
    const { said } = await played(
      `const agent = Agent.open('1.0');
      agent.addCheck('configuration', () => ${wrong});
      await agent.ready().catch(() => process.exit(0));`,
      welcome,
    );
    assert.deepEqual(said, ['hello', 'unfit']);
  }
});

test('a wait may be longer than the longest time of a timer', async () => {
  const { printed } = await played(
    `const agent = Agent.open('1.0');
    process.on('warning', ({ name }) => console.error(name));
    const late = agent.wait({ timeout: 2 ** 40 });
    await agent.ready();
    console.error((await late).type);
    const never = agent.wait({ timeout: Infinity });
    const first = await Promise.race([never, agent.wait({ timeout: 20 })]);
    console.error(first);
    process.exit(0);`,
    welcome,
  );
  assert.equal(printed, 'welcome\nnull\n');
});

test('close() ends waits and loops, and a later wait() is an error', async () => {
  const { printed, status } = await played(
    `const agent = Agent.open('1.0');
    const loop = (async () => { for await (const event of agent) console.error(event.type); })();
    const wait = agent.wait();
    await agent.ready();
    setImmediate(() => agent.close());
    console.error(await wait, await loop);
    await agent.wait().catch(({ message }) => console.error(message));`,
  );
  assert.equal(printed, 'null undefined\nthe conversation has been closed\n');
  assert.equal(status, 0);
});

test('stopped() answers a stop that waits in the pipe', async () => {
  const stop = { type: 'stop', reason: 'upgrade', deadline_ms: 5_000, id: 'u', generation: 2 };
  const { said, printed } = await played(
    `import fs from 'node:fs';
    const upgrader = fs.openSync('/proc/self/fd/0', 'w');
    const agent = Agent.open('1.0');
    await agent.ready();
    while ((await agent.wait()).type !== 'activate');
    process.kill(process.pid, 'SIGTERM');
    console.error((await agent.wait()).reason);
    fs.writeSync(upgrader, ${JSON.stringify(`${JSON.stringify(stop)}
`)});
    await agent.stopped();
    process.exit(0);`,
    welcome,
    activate,
  );
  assert.deepEqual(said, ['hello', 'ready', 'stopped']);
  assert.equal(printed, 'signal\n');
});

test('without an upgrader a program lives while it waits for events', async () => {
  const program = `import { Agent } from '${library}';
    const agent = Agent.open('1.0');
    await agent.ready();
    for await (const event of agent) {
      console.log(event.type);
      if (event.type === 'stop') process.exit(0);
    }`;
  const { AGENT_PROTOCOL: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env });
  child.stdout.setEncoding('utf8');
  const ended = once(child, 'exit');
  assert.deepEqual(await once(child.stdout, 'data'), ['activate\n']);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child.stdout, 'data'), ['stop\n']);
  assert.deepEqual(await ended, [0, null]);
});

test('console.log() goes to standard error if that is a socket, as under systemd', async () => {
  const { said, printed } = await playedWith(
    { stderr: 'pipe' },
    `console.log('{"type":"stray"}');
    const agent = Agent.open('1.0');
    console.log('to the log');
    await agent.ready();
    process.exit(0);`,
    welcome,
  );
  assert.deepEqual(said, ['stray', 'hello', 'ready']);
  assert.equal(printed, 'to the log\n');
});

test('console.log() and console.error() do not overwrite each other in a file', async () => {
  for (const flags of ['w', 'a']) {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-test-'));
    const log = path.join(directory, 'log');
    const stderr = fs.openSync(log, flags);
    await playedWith(
      { stderr },
      `const agent = Agent.open('1.0');
      for (const line of [1, 3]) {
        console.log(line);
        console.error(line + 1);
      }
      process.exit(0);`,
    );
    fs.closeSync(stderr);
    assert.equal(fs.readFileSync(log, 'utf8'), '1\n2\n3\n4\n', `flags ${flags}`);
    fs.rmSync(directory, { recursive: true });
  }
});

test('a standard error that is a FIFO without a reader does not hold up the start', async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-test-'));
  const reader = newFifo(directory, 'log');
  const stderr = fs.openSync(path.join(directory, 'log'), 'w');
  fs.closeSync(reader);

  const { said, status } = await playedWith(
    { stderr },
    `const agent = Agent.open('1.0');
    await agent.ready();
    process.exit(0);`,
    welcome,
  );

  assert.deepEqual(said, ['hello', 'ready']);
  assert.equal(status, 0);
  fs.closeSync(stderr);
  fs.rmSync(directory, { recursive: true });
});

test('an agent that cannot open its pipes again is told why', async () => {
  const { said, printed } = await playedWith(
    { stdin: 'pipe' },
    `try { Agent.open('1.0'); } catch ({ code, message }) { console.error(code, message); }`,
  );
  assert.deepEqual(said, []);
  assert.match(printed, /^ENXIO cannot open descriptor 0, the upgrader's pipe, again .* user after Agent.open\(\)/);
});

test('an agent in a worker thread is refused', async () => {
  const { said, printed } = await played(
    `import { Worker } from 'node:worker_threads';
    const code = "import('${library}').then(({ Agent }) => Agent.open('1.0'))";
    new Worker(code, { eval: true }).on('error', ({ message }) => console.error(message));`,
  );
  assert.deepEqual(said, []);
  assert.equal(printed, 'only the main thread can open the conversation\n');
});

test('an agent in a worker of node:cluster is refused', async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-test-'));
  const worker = path.join(directory, 'worker.mjs');
  fs.writeFileSync(
    worker,
    `import { Agent } from '${library}';
    try {
      Agent.open('1.0');
    } catch ({ message }) {
      console.error(message);
    }
    process.exit(0);`,
  );
  const { said, printed } = await played(
    `import cluster from 'node:cluster';
    import process from 'node:process';
    Agent.open('1.0');
    cluster.setupPrimary({ exec: '${worker}', execArgv: [] });
    cluster.fork().on('exit', () => process.exit(0));`,
    welcome,
  );
  fs.rmSync(directory, { recursive: true });
  assert.deepEqual(said, ['hello']);
  assert.match(printed, /^a worker of node:cluster has no upgrader of its own: .*isPrimary/);
});

test('an upgrade with a member that does not exist is refused', async () => {
  const { said, printed } = await played(
    `const agent = Agent.open('1.0');
    await agent.ready();
    while ((await agent.wait()).type !== 'activate');
    try {
      agent.upgrade({ id: 'u', executable: '/agent', trial_ms: 60_000 });
    } catch ({ message }) {
      console.error(message);
    }
    process.exit(0);`,
    welcome,
    activate,
  );
  assert.deepEqual(said, ['hello', 'ready']);
  assert.equal(printed, 'an upgrade has no member trial_ms\n');
});
