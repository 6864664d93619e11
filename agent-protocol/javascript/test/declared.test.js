import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import * as library from '../index.js';

const { Agent } = library;

test('every verb that is declared is a function', () => {
  const text = readFileSync(new URL('../index.d.ts', import.meta.url), 'utf8');
  const verbs = [...text.slice(text.indexOf('export class')).matchAll(/^ {2}(static )?(\w+)\(/gm)];
  const missing = verbs.filter(([, fixed, verb]) => verb !== 'constructor'
    && typeof (fixed ? Agent : Agent.prototype)[verb] !== 'function');
  assert.ok(verbs.length > 12);
  assert.deepStrictEqual(missing.map(([, , verb]) => verb), []);
});

test('every function and class that is declared is exported', () => {
  const text = readFileSync(new URL('../index.d.ts', import.meta.url), 'utf8');
  const names = [...text.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name);
  assert.deepStrictEqual(names.sort(), Object.keys(library).sort());
});
