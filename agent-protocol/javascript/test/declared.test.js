import assert from 'node:assert';
import { readFileSync, readdirSync } from 'node:fs';
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

test('the README and the examples import the library by the name in package.json', async () => {
  const folder = new URL('../', import.meta.url);
  const read = (path) => readFileSync(new URL(path, folder), 'utf8');
  const examples = readdirSync(new URL('examples/', folder)).map((file) => `examples/${file}`);
  const names = ['README.md', ...examples].flatMap((path) => [
    ...read(path).matchAll(/ from '((?!node:|\.)[^']+)'/g)].map(([, name]) => name));
  const { name } = JSON.parse(read('package.json'));

  assert.deepStrictEqual([...new Set(names)], [name]);
  assert.deepStrictEqual(Object.keys(await import(name)), Object.keys(library));
});
