// The sources of newer versions: npm's registry, a directory of published files, a URL. A source
// has two functions. newest() returns the newest version that the source offers, or null if only a
// fetch can tell. add(scratch) adds that version to the directory of releases; `scratch` is a
// temporary directory.

import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';

import { UpdateError, parsed, run } from './programs.js';

const manifestBytesMax = 65_536; // agent-releases(1)
const versionCharactersMax = 128; // agent-protocol(7), hello
const processors = {
  x64: 'x86_64', ia32: 'i386', arm64: 'aarch64', arm: 'armhf', ppc64: 'ppc64le',
};

export function withoutScope(name) {
  return name.slice(name.lastIndexOf('/') + 1);
}

// Returns 1 if version `a` is later than version `b` by semantic versioning, -1 if `a` is earlier,
// and 0 if they are equal.
export function compare(a, b) {
  const parts = (text) => {
    const [core, ...rest] = text.split('+')[0].split('-');
    return [core.split('.').map(Number), rest.join('-').split('.').filter((part) => part !== '')];
  };
  const [[coreA, preA], [coreB, preB]] = [parts(a), parts(b)];
  for (const i of [0, 1, 2]) {
    if (coreA[i] !== coreB[i]) return coreA[i] > coreB[i] ? 1 : -1;
  }
  if (preA.length === 0 || preB.length === 0) return Math.sign(preB.length - preA.length);
  for (let i = 0; i < Math.max(preA.length, preB.length); ++i) {
    const [one, other] = [preA[i], preB[i]];
    if (one === other) continue;
    if (one === undefined) return -1;
    if (other === undefined) return 1;
    const numbers = [one, other].map((part) => /^\d+$/.test(part));
    if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
    return (numbers[0] ? Number(one) > Number(other) : one > other) ? 1 : -1;
  }
  return 0;
}

export function isVersion(text) {
  return typeof text === 'string' && text.length <= versionCharactersMax &&
    /^\d+\.\d+\.\d+([-+][\w.+-]+)?$/.test(text);
}

// ---- npm's registry

// Returns the script that starts the package: the program in `bin` called `wanted`, or else the
// only program in `bin`. If the package has no `bin`, returns its `main`.
function entryOf(packed, wanted) {
  const { bin } = packed;
  if (typeof bin === 'string') return bin;
  if (bin !== undefined && bin !== null) {
    const names = Object.keys(bin);
    if (typeof bin[wanted] === 'string') return bin[wanted];
    if (names.length === 1) return bin[names[0]];
    if (names.length > 1) {
      throw new UpdateError(`find the program of ${packed.name}`,
        `it has ${names.join(', ')}: name one by \`program\``);
    }
  }
  return packed.main ?? 'index.js';
}

// Throws an UpdateError if npm's lock file lacks the hash of a package: npm would not check such a
// package after fetching it.
function checkLock(deed, file) {
  const { packages = {} } = parsed(deed, fs.readFileSync(file, 'utf8'));
  for (const [name, each] of Object.entries(packages)) {
    if (name !== '' && !each.link && !each.inBundle && !each.integrity) {
      throw new UpdateError(deed, `npm's lock file has no hash of ${name}`);
    }
  }
}

export class Registry {
  constructor(releases, name, { package: wanted, registry, tag = 'latest', ...settings }) {
    const { program, scripts, signal } = settings;
    Object.assign(this, { releases, name, wanted, tag, program, scripts, signal });
    this.env = registry === undefined ? {} : { npm_config_registry: registry };
    this.quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  }

  async newest() {
    const deed = `ask npm for the newest ${this.wanted}`;
    const words = ['view', `${this.wanted}@${this.tag}`, 'name', 'version', 'bin', 'main', '--json',
      '--loglevel=error'];
    const text = await run(deed, 'npm', words, { env: this.env, signal: this.signal });
    let found = parsed(deed, text);
    if (Array.isArray(found)) found = found.at(-1);
    if (!isVersion(found?.version)) {
      throw new UpdateError(deed, `it has no version with the tag ${this.tag}`);
    }
    this.found = found;
    return found.version;
  }

  // Makes an npm project that depends on the fetched package alone. npm writes the project's lock
  // file, and agent-releases packs the project.
  async add(scratch) {
    const { wanted, found: { version }, name } = this;
    const deed = `fetch ${wanted} ${version}`;
    const project = path.join(scratch, 'project');
    fs.mkdirSync(project);
    fs.writeFileSync(path.join(project, 'package.json'), JSON.stringify({
      name, version, private: true, dependencies: { [wanted]: version },
    }));
    const words = ['install', '--package-lock-only', '--ignore-scripts', ...this.quiet];
    await run(deed, 'npm', words, { cwd: project, env: this.env, signal: this.signal });
    checkLock(deed, path.join(project, 'package-lock.json'));
    const entry = path.posix.join('node_modules', wanted,
      entryOf(this.found, this.program ?? withoutScope(wanted)));
    const { scripts, env } = this;
    const settings = { name, version, entry, project, scripts, scratch, env };
    const packed = await this.releases.pack(settings);
    return this.releases.add(packed.manifest, name, [`--sha256=${packed.sha256}`]);
  }
}

// ---- published files

// Returns the manifest in a file, or null if the file is not a manifest. The file is not trusted,
// and may be a FIFO: without O_NONBLOCK, the open would block until somebody opens the FIFO for
// writing.
function readManifest(file) {
  let descriptor;
  try {
    descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const status = fs.fstatSync(descriptor);
    if (!status.isFile() || status.size > manifestBytesMax) return null;
    const manifest = JSON.parse(fs.readFileSync(descriptor, 'utf8'));
    return isVersion(manifest?.version) ? manifest : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

export class Directory {
  constructor(releases, name, { directory, keys }) {
    Object.assign(this, { releases, name, directory, keys });
  }

  async newest() {
    const here = processors[process.arch] ?? process.arch;
    let names;
    try {
      names = fs.readdirSync(this.directory);
    } catch (error) {
      throw new UpdateError(`look for versions in ${this.directory}`, error.message);
    }
    this.best = null;
    for (const name of names.filter((each) => each.endsWith('.json'))) {
      const file = path.join(this.directory, name);
      const manifest = readManifest(file);
      if (manifest?.name !== this.name || !['any', here].includes(manifest.arch)) continue;
      // A version may have two releases: one for all processors and one for this processor. The
      // release for this processor is preferred.
      const order = this.best ? compare(manifest.version, this.best.version) : 1;
      if (order < 0 || (order === 0 && manifest.arch === 'any')) continue;
      if (!manifest.version.split('+')[0].includes('-')) {
        this.best = { file, version: manifest.version };
      }
    }
    if (!this.best) {
      throw new UpdateError(`look for versions in ${this.directory}`,
        `it has no release of ${this.name} for ${here}`);
    }
    return this.best.version;
  }

  add() {
    return this.releases.add(this.best.file, this.name, [`--keys=${path.resolve(this.keys)}`]);
  }
}

// A source that is one URL, at which the publisher replaces the manifest for each newer version.
// newest() cannot know the version, because only agent-releases fetches the manifest.
export class Url {
  constructor(releases, name, { url, keys }) {
    Object.assign(this, { releases, name, url, keys });
  }

  async newest() {
    return null;
  }

  add() {
    return this.releases.add(String(this.url), this.name, [`--keys=${path.resolve(this.keys)}`]);
  }
}
