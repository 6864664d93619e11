import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import test from 'node:test';

import { lastWords } from '../lib/programs.js';
import { Releases, releaseOf } from '../lib/releases.js';
import { Directory, compare, isVersion } from '../lib/sources.js';
import { update } from '../lib/update.js';
import { agentOf } from '../testing/agent.js';

test('versions are ordered as semantic versioning has it', () => {
  const rising = ['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta.2',
    '1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1', '1.2.0', '1.10.0', '2.0.0-0', '2.0.0'];
  rising.forEach((a, i) => rising.forEach((b, j) => {
    assert.strictEqual(compare(a, b), Math.sign(i - j), `${a} and ${b}`);
  }));
  assert.strictEqual(compare('1.0.0+a', '1.0.0+b'), 0);
});

test('a text that is not a version is not taken for one', () => {
  for (const text of ['1.0', '', 'v1.0.0', '1.0.0 ', '1.0.0/..', '1.0.0-', undefined, {}]) {
    assert.strictEqual(isVersion(text), false, String(text));
  }
  for (const text of ['1.0.0', '10.20.30-rc.1', '1.0.0+build']) assert.ok(isVersion(text));
});

test('the last words of a program are one line that commands no terminal', () => {
  assert.strictEqual(lastWords('npm ERR! code E404\nnpm error \u001b[2Jgone\n\n'),
    'code E404; [2Jgone');
  assert.strictEqual(lastWords('x'.repeat(10_000)).length, 600);
});

test('a program knows the release that it lies in', (context) => {
  const place = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'update-')));
  context.after(() => fs.rmSync(place, { recursive: true }));
  const release = path.join(place, 'web-v1.2.3', 'node_modules', 'web');
  fs.mkdirSync(release, { recursive: true });
  fs.writeFileSync(path.join(release, 'server.js'), '');
  assert.strictEqual(releaseOf(path.join(release, 'server.js')), null);
  fs.writeFileSync(path.join(place, '.name'), 'web\n');
  fs.symlinkSync(path.join(release, 'server.js'), path.join(place, 'current'));
  const expected = { name: 'web', version: '1.2.3', directory: place };
  assert.deepStrictEqual(releaseOf(path.join(place, 'current')), expected);
  assert.strictEqual(releaseOf(path.join(place, 'none')), null);
});

test('a file that is no manifest is passed over in a directory of published files', async (context) => {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'update-'));
  context.after(() => fs.rmSync(place, { recursive: true }));
  fs.writeFileSync(path.join(place, 'good.json'), '{"name":"web","version":"1.2.3","arch":"any"}');
  fs.writeFileSync(path.join(place, 'deep.json'), '['.repeat(60_000));
  fs.mkdirSync(path.join(place, 'directory.json'));
  const fifo = path.join(place, 'fifo.json');
  execFileSync('mkfifo', [fifo]);
  const source = new Directory(null, 'web', { directory: place, keys: '/keys' });
  assert.strictEqual(await source.newest(), '1.2.3');
});

test('the reason of a failure may have any character', async (context) => {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'update-'));
  context.after(() => fs.rmSync(place, { recursive: true }));
  fs.writeFileSync(path.join(place, 'agent-releases'),
    '#!/bin/sh\nprintf "%s\\n" "$@" >"${0%/*}/words"\n', { mode: 0o755 });
  const releases = new Releases(place, { programs: place });
  await releases.fail({ id: 'u', stage: 'start', reason: 'a\0b\nc' });
  const words = fs.readFileSync(path.join(place, 'words'), 'utf8').split('\n');
  assert.ok(words.includes('--reason=a b c'), words.join(' '));
});

test('what an earlier update has left, and cannot be removed, stops no update', async (context) => {
  const world = makeWorld(context);
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'update-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = place;
  context.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    fs.rmSync(place, { recursive: true });
  });
  const none = 2 ** 30; // more than any process id
  fs.mkdirSync(path.join(place, `upgrader-update-${none}-left`));
  const remove = context.mock.method(fs, 'rmSync', () => { throw new Error('EACCES'); });
  world.answerAdd('1.0.0');
  const ended = await world.update();
  remove.mock.restore();
  assert.deepStrictEqual(ended, { outcome: 'current', version: '1.0.0' });
});

test('a clock that is set while an upgrade is waited for ends no wait', async (context) => {
  const world = makeWorld(context);
  world.answerAdd('1.2.0');
  world.answer('show.1', { version: '1.2.0' });
  world.answer('show.2', { version: '1.2.0', last: { ending: 'committed' } });
  let now = 0;
  context.mock.method(Date, 'now', () => { now += 1e12; return now; });
  assert.deepStrictEqual(await world.update(null), { outcome: 'committed', version: '1.2.0' });
});

// ---- the update of an agent, with answers of agent-releases that the test has written

// A fake agent-releases. Its n-th call of a command, such as `try`, prints the file try.n, or else
// the file try. If there is a file try.n.fault, the call fails with that file's content as the
// error.
const program = `#!/bin/sh
cd "\${0%/*}"
for word; do case $word in --*) ;; *) break ;; esac; done
echo "$word" >>calls
file=$word.$(grep -c "^$word$" calls)
if [ -f "$file.fault" ]; then cat "$file.fault" >&2; exit 6; fi
cat "$file" 2>>faults || cat "$word"
`;

// Returns an active agent; with the role `candidate` it is also on trial. Each upgrade that it
// requests is accepted, and the agent is then told to stop for that upgrade.
function luckyAgent(role) {
  const agent = agentOf(role);
  const { upgrade } = agent;
  agent.upgrade = ({ id }) => {
    upgrade({ id });
    agent.hear({ type: 'accepted', id, generation: 2 });
    agent.hear({ type: 'stop', reason: 'upgrade', id, generation: 2 });
  };
  return agent;
}

// Makes a directory of releases. Returns functions that set the answers of a fake agent-releases,
// and one that calls update().
function makeWorld(context) {
  const place = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'update-')));
  context.after(() => fs.rmSync(place, { recursive: true }));
  const answer = (name, text) => fs.writeFileSync(path.join(place, name),
    typeof text === 'string' ? text : JSON.stringify(text));
  answer('agent-releases', program);
  fs.chmodSync(path.join(place, 'agent-releases'), 0o755);
  answer('web.pub', '');
  const world = {
    answer,
    answerList: (newestIsDesired = true) => answer('list', { name: 'web',
      newest_is_desired: newestIsDesired, releases: [{ version: '1.0.0', current: true }] }),
    answerAdd: (version) => answer('add', { release: { version } }),
    calls: () => fs.existsSync(path.join(place, 'calls')) ?
      fs.readFileSync(path.join(place, 'calls'), 'utf8') : '',
    place,
    update: (agent = luckyAgent(), keys = place) => update({ agent,
      url: 'https://example.org/web.json', keys, releases: place, programs: place, package: 'web' }),
  };
  world.answerList();
  answer('try', { running: '1.0.0' });
  return world;
}

const due = { running: '1.0.0', id: 'u', release: { version: '1.2.0', executable: '/web' } };

test('keys that are no directory of keys are refused before the search', async (context) => {
  const world = makeWorld(context);
  const keys = path.join(world.place, 'keys');
  await assert.rejects(world.update(luckyAgent(), keys),
    { message: /^cannot update: keys: ENOENT: .*\/keys'$/ });
  fs.mkdirSync(keys);
  await assert.rejects(world.update(luckyAgent(), keys),
    { message: `cannot update: keys: ${keys} has no public key, a file *.pub` });
  assert.strictEqual(world.calls(), '');
});

test('the releases are read when an upgrade may be requested, and not before', async (context) => {
  const world = makeWorld(context);
  const trial = luckyAgent('candidate');
  const ended = world.update(trial);
  await new Promise((resolve) => setImmediate(resolve));
  assert.strictEqual(world.calls(), '');
  world.answerList(false);
  trial.hear({ type: 'committed', id: 'u', generation: 1 });
  assert.deepStrictEqual(await ended, { outcome: 'held', version: '1.0.0' });
  assert.strictEqual(world.calls(), 'list\ntry\n');
  const stopped = luckyAgent('candidate');
  const stopping = world.update(stopped);
  stopped.hear({ type: 'stop', reason: 'rollback' });
  assert.deepStrictEqual(await stopping, { outcome: 'stopping', version: '1.0.0' });
});

test('the fault of the first attempt is a warning if a later one succeeds', async (context) => {
  const world = makeWorld(context);
  world.answerAdd('1.2.0');
  world.answer('try.1.fault', 'release 1.1.0 is damaged\n');
  world.answer('try.2', { ...due, left_out: 'release 1.1.1 is damaged' });
  assert.deepStrictEqual(await world.update(), { outcome: 'stopping', version: '1.0.0',
    newest: '1.2.0', warning: 'release 1.1.1 is damaged; ' +
      'cannot try what is newer than 1.0.0: release 1.1.0 is damaged' });
});

test('the fault of the first attempt is thrown if there is no later one', async (context) => {
  const world = makeWorld(context);
  const throws = async (message) => {
    world.answer('calls', '');
    await assert.rejects(world.update(), { message });
  };
  const fault = 'cannot try what is newer than 1.0.0: no';
  world.answer('try.1.fault', 'no\n');
  world.answerAdd('1.0.0');
  await throws(fault);
  world.answer('try.2.fault', 'no\n');
  world.answerAdd('1.2.0');
  await throws(fault);
  world.answer('add.1.fault', 'no network\n');
  await throws(`cannot add https://example.org/web.json: no network; before that: ${fault}`);
  world.answerList(false);
  await throws(fault);
});

test('a newest release that is not to be tried was tried, has failed or is held', async (context) => {
  const world = makeWorld(context);
  world.answerAdd('1.2.0');
  for (const [last, outcome, reason] of [
    [undefined, 'held', undefined],
    [{ ending: 'forgotten' }, 'held', undefined],
    [{ ending: 'failed', tried_again: true }, 'held', undefined],
    [{ ending: 'trying' }, 'failed', 'it was tried, and has no ending'],
    [{ ending: 'failed', reason: 'it died' }, 'failed', 'it died'],
  ]) {
    world.answer('show', { version: '1.2.0', last });
    const ended = await world.update();
    assert.deepStrictEqual([ended.outcome, ended.reason], [outcome, reason], JSON.stringify(last));
  }
});
