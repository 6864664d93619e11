import assert from 'node:assert';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { lastWords } from '../lib/programs.js';
import { releaseOf } from '../lib/releases.js';
import { compare, isVersion } from '../lib/sources.js';

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
