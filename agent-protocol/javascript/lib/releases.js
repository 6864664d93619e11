// This file reads and changes a directory of releases by running agent-releases(1). It decides
// nothing.

import fs from 'node:fs';
import path from 'node:path';

import { UpdateError, parsed, printable, programPath, run } from './programs.js';

const absent = 2; // the exit status of agent-releases if there is no such directory or version

// Returns { name, version, directory } of the release that contains the file at `program`, or null
// if no release contains it.
export function releaseOf(program) {
  let here;
  try {
    here = fs.realpathSync(program);
  } catch {
    return null;
  }
  for (let above = path.dirname(here); above !== here; above = path.dirname(above)) {
    let name;
    try {
      name = fs.readFileSync(path.join(above, '.name'), 'utf8').trim();
    } catch {
      here = above;
      continue;
    }
    const prefix = `${name}-v`;
    const release = path.basename(here);
    if (name && release.startsWith(prefix)) {
      return { name, version: release.slice(prefix.length), directory: above };
    }
    here = above;
  }
  return null;
}

export class Releases {
  constructor(directory, { programs, signal } = {}) {
    this.directory = path.resolve(directory);
    this.program = programPath('agent-releases', programs);
    this.signal = signal;
  }

  async #run(deed, ...words) {
    const command = ['--json', `--dir=${this.directory}`, ...words];
    return parsed(deed, await run(deed, this.program, command, { signal: this.signal }));
  }

  // Returns the parsed output of `agent-releases list`, or null if the directory has not been made
  // yet.
  async list() {
    try {
      return await this.#run(`read the releases in ${this.directory}`, 'list');
    } catch (error) {
      const made = fs.existsSync(path.join(this.directory, '.name'));
      if (error.status === absent && !made) return null;
      throw error;
    }
  }

  show(version) {
    return this.#run(`read release ${version}`, 'show', version);
  }

  // Adds the release that a manifest describes; `manifest` is a path or a URL. Returns { release,
  // event }.
  add(manifest, name, trust) {
    return this.#run(`add ${manifest}`, `--name=${name}`, 'add', manifest, ...trust);
  }

  // Chooses and verifies the release that should replace the running version, and records that an
  // upgrade to it begins. Returns { id, release }, or null if no release should replace the running
  // version.
  async try(running, keys) {
    const words = [`--running=${running}`, ...(keys ? [`--keys=${path.resolve(keys)}`] : [])];
    const told = await this.#run(`try what is newer than ${running}`, 'try', ...words);
    return told.id === undefined ? null : told;
  }

  // Records how the upgrade `id` failed. Does nothing if no call of try() has begun this upgrade.
  async fail({ id, stage, reason, errno }) {
    const words = [`--dir=${this.directory}`, 'fail', `--stage=${stage}`,
      `--reason=${printable(reason)}`, ...(errno ? [`--errno=${errno}`] : []), '--', id];
    try {
      await run(`record how upgrade ${id} failed`, this.program, words);
    } catch (error) {
      if (error.status !== absent) throw error;
    }
  }

  prune(keep) {
    return this.#run(`remove old releases in ${this.directory}`, 'prune', `--keep=${keep}`);
  }

  // Packs an npm project into a release, and returns { version, manifest, sha256 }. All files are
  // made below `scratch`.
  async pack({ name, version, entry, project, scripts, scratch, env }) {
    const deed = `pack ${name} ${version}`;
    const words = ['--json', 'pack', '--npm', `--name=${name}`, `--version=${version}`,
      `--entry=${entry}`, `--out=${path.join(scratch, 'out')}`, ...(scripts ? ['--scripts'] : []),
      project];
    const settings = { env: { ...env, TMPDIR: scratch }, signal: this.signal };
    return parsed(deed, await run(deed, this.program, words, settings));
  }

  // Makes the link `current`, which names the program to run. Called when `release` has become the
  // first release of the directory. If the link exists already, does nothing.
  start(release) {
    try {
      fs.symlinkSync(path.relative(this.directory, release.executable),
        path.join(this.directory, 'current'));
    } catch (error) {
      if (error.code !== 'EEXIST') throw new UpdateError('make the link current', error.message);
    }
  }
}
