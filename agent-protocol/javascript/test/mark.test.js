import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import test from 'node:test';

import { Agent } from '../index.js';
import * as mark from '../lib/mark.js';

test('a process knows its own mark, and no other', () => {
  assert.equal(mark.isLeft(), false);
  process.env.LIBAGENT_PROTOCOL_PROCESS = `${process.pid} 1`;
  assert.equal(mark.isLeft(), false);
  mark.leave();
  assert.equal(mark.isLeft(), true);
  const script = `import * as mark from '${new URL('../lib/mark.js', import.meta.url)}';
    process.exit(mark.isLeft() ? 1 : 7);`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  assert.equal(child.status, 7);
});

test('what has been an agent has no conversation again', () => {
  mark.leave();
  assert.throws(() => Agent.open('1.0'), { code: 'ENOTCONN' });
});
