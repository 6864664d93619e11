// Lets a daemon or an agent update itself: looks for a newer version, adds it to the directory of
// releases, waits until the upgrader has replaced the program, and reports how the upgrade ended.
// sources.js knows where versions come from, and releases.js where they are kept. An agent requests
// the upgrade itself (request.js); for a daemon, agentify requests it, which watches the directory
// of releases. See README.md, "A daemon that updates itself".

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

import { UpdateError } from './programs.js';
import { Releases, releaseOf } from './releases.js';
import { checkAgent, mayRequest, recordFailures, request, versionOf } from './request.js';
import { Directory, Registry, Url, compare, isVersion, withoutScope } from './sources.js';

export { UpdateError };

const betweenLooksMs = 250;
// How long to wait for an upgrade to begin, in milliseconds. This is longer than the trial of the
// current version (30 seconds by default), which must end first.
const defaultWaitMs = 120_000;
const longestUpgradeMs = 3_600_000;
const scratchPrefix = 'upgrader-update-';

// True during an update: two updates at once would fetch the same version twice.
let busy = false;

// ---- the options of an update

// Returns the `name` in the nearest package.json above the program, or undefined if there is none.
function packageAbove(program) {
  for (let here = path.dirname(path.resolve(program)); ; here = path.dirname(here)) {
    try {
      const { name } = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'));
      if (typeof name === 'string') return name;
    } catch {
      // No package.json can be read here: go on with the parent directory.
    }
    if (here === path.dirname(here)) return undefined;
  }
}

// Without this check, a wrong path would be noticed only when a newer version is published.
function checkKeys(directory, refuse) {
  let names = [];
  try {
    names = fs.readdirSync(directory);
  } catch (error) {
    refuse(`keys: ${error.message}`);
  }
  if (!names.some((name) => name.endsWith('.pub'))) {
    refuse(`keys: ${directory} has no public key, a file *.pub`);
  }
}

function checkOptions({ registry, directory, url, keys, keep }) {
  const refuse = (reason) => {
    throw new UpdateError('update', reason);
  };
  const named = [registry, directory, url].filter((each) => each !== undefined);
  if (named.length > 1) refuse('registry, directory and url exclude each other');
  const published = directory !== undefined || url !== undefined;
  if (published && keys === undefined) refuse('directory and url need keys, a directory of keys');
  if (!published && keys !== undefined) refuse('keys belong to directory and url');
  if (published) checkKeys(keys, refuse);
  if (keep !== undefined && !(Number.isInteger(keep) && keep >= 1)) {
    refuse('keep is a number of releases, at least 1');
  }
}

// Returns the version that the agent has told the upgrader. Used for an agent that does not run
// from the directory of releases.
function agentVersion(agent) {
  const version = versionOf(agent);
  if (isVersion(version)) return version;
  throw new UpdateError('update', 'this agent does not run from the directory of releases, and its ' +
    'own version is none such as 1.2.3');
}

// Returns { releases, running }: the directory of releases, and the version that runs. `running` is
// undefined if the caller must read that version from the directory.
function findReleases(options) {
  const own = releaseOf(process.argv[1] ?? '');
  const directory = options.releases ?? own?.directory;
  if (directory === undefined) {
    throw new UpdateError('update',
      'this program lies in no directory of releases: name one by `releases`');
  }
  const releases = new Releases(directory, options);
  const isOwn = own && fs.existsSync(directory) && fs.realpathSync(directory) === own.directory;
  if (isOwn) return { releases, running: own.version };
  return { releases, running: options.agent && agentVersion(options.agent) };
}

// Reads the directory of releases. Returns { releases, list, name, running, source }.
async function prepare(options, { releases, running: known }) {
  const list = await releases.list();
  const wanted = options.package ?? packageAbove(process.argv[1] ?? '');
  const name = list?.name ?? options.name ?? (wanted && withoutScope(wanted));
  if (!name) throw new UpdateError('update', 'no package.json names this program: say `package`');
  const running = known ?? list?.releases.find((each) => each.current)?.version;
  const settings = { ...options, package: wanted };
  let source = new Registry(releases, name, settings);
  if (options.directory !== undefined) source = new Directory(releases, name, settings);
  if (options.url !== undefined) source = new Url(releases, name, settings);
  return { releases, list, name, running, source };
}

// ---- finding the newest release, and fetching it into a temporary directory

// Removes a temporary directory. Ignores a failure: another process may be removing the directory
// at this moment, and the next update tries again.
function removeScratch(directory) {
  try {
    fs.rmSync(directory, { recursive: true, force: true });
  } catch {
    // The temporary directory stays on disk; the next update tries again to remove it.
  }
}

function isLeft(place, name) {
  const owner = name.match(/^upgrader-update-(\d+)-/);
  if (!owner || fs.existsSync(`/proc/${owner[1]}`)) return false;
  return fs.lstatSync(path.join(place, name), { throwIfNoEntry: false })?.uid === process.getuid();
}

// Makes a temporary directory for this update, and removes the temporary directories of earlier
// updates whose processes are gone.
function makeScratch() {
  const place = os.tmpdir();
  try {
    for (const name of fs.readdirSync(place)) {
      if (isLeft(place, name)) removeScratch(path.join(place, name));
    }
    return fs.mkdtempSync(path.join(place, `${scratchPrefix}${process.pid}-`));
  } catch (error) {
    throw new UpdateError(`make a directory in ${place}`, error.message);
  }
}

async function fetchInto(source) {
  const scratch = makeScratch();
  try {
    return (await source.add(scratch)).release;
  } finally {
    removeScratch(scratch);
  }
}

function failed(release, running) {
  const { stage, reason } = release.last;
  return { outcome: 'failed', version: running, newest: release.version, stage, reason };
}

function refusePrerelease(version) {
  if (!version.split('+')[0].includes('-')) return;
  throw new UpdateError(`update to ${version}`, 'it is a pre-release, and none is followed');
}

// Returns the newest release, and fetches it first if the directory does not have it. Returns null
// if no release is newer than the running one.
async function newestRelease({ source, list, running }) {
  const version = await source.newest();
  if (version !== null) {
    if (running !== undefined && compare(version, running) <= 0) return null;
    refusePrerelease(version);
    const there = list?.releases.find((each) => compare(each.version, version) === 0);
    if (there) return there;
  }
  const release = await fetchInto(source);
  if (running !== undefined && compare(release.version, running) <= 0) return null;
  refusePrerelease(release.version);
  return release;
}

// ---- the outcome of the requested upgrade, and the removal of old releases

// Waits until the ledger (the record of tried versions) says how the upgrade to this release has
// ended. Ignores the endings in `list`, which belong to earlier upgrades.
async function ending({ releases, list, running }, release, { wait = defaultWaitMs, signal }) {
  const earlier = list?.releases.find((each) => each.version === release.version);
  const before = JSON.stringify(earlier?.last ?? null);
  const begun = performance.now(); // unlike Date.now(), unaffected if the clock is set
  let tried = false;
  for (;;) {
    const now = await releases.show(release.version);
    const ended = now.last && JSON.stringify(now.last) !== before ? now.last.ending : undefined;
    if (ended === 'committed') return { outcome: 'committed', version: now.version };
    if (ended === 'failed') return failed(now, running);
    tried ||= ended === 'trying';
    if (performance.now() - begun > (tried ? longestUpgradeMs : wait)) {
      throw new UpdateError(`update to ${release.version}`, tried || now.last?.ending === 'trying' ?
        'it was tried, and has no ending' :
        `it lies in ${releases.directory}, and nothing has asked for it: agentify run with ` +
        '--releases does, and so does update() of an `agent`');
    }
    await pause(betweenLooksMs, undefined, { signal }).catch(() => {
      throw new UpdateError(`wait for the upgrade to ${release.version}`, 'it was interrupted');
    });
  }
}

// Removes old releases. If that fails, returns the reason as a warning; the update continues.
async function prune({ releases, list }, { keep }) {
  if (keep === undefined || !list || list.releases.length <= keep) return {};
  try {
    await releases.prune(keep);
    return {};
  } catch (error) {
    return { warning: error.message };
  }
}

// ---- an agent

function withWarning(ended, text) {
  if (text === undefined) return ended;
  return { ...ended, warning: ended.warning ? `${ended.warning}; ${text}` : text };
}

// Requests the upgrade, and returns the outcome of the update. If the upgrade has failed, records
// the failure in the ledger (the record of tried versions).
async function replaceAgent(agent, { releases, running }, { id, release, left_out: leftOut }) {
  const failure = await request(agent, id, release.executable);
  if (failure === null) {
    const stopping = { outcome: 'stopping', version: running, newest: release.version };
    return withWarning(stopping, leftOut);
  }
  const ended = withWarning(failed({ version: release.version, last: failure }, running), leftOut);
  try {
    await recordFailures(agent, releases);
    return ended;
  } catch (error) {
    return withWarning(ended, error.message);
  }
}

// Returns the outcome if the newest version must not be tried: it was tried before, or an operator
// has meanwhile chosen a different version.
async function pastFailure({ releases, running }, release) {
  const { version, last } = await releases.show(release.version);
  if (last?.ending === 'failed' && !last.tried_again) return failed({ version, last }, running);
  if (last?.ending !== 'trying') return { outcome: 'held', version: running };
  const reason = 'it was tried, and has no ending';
  return { outcome: 'failed', version: running, newest: version, reason };
}

async function replaceByNewest({ agent, keys, signal }, prepared) {
  const { releases, running } = prepared;
  const release = await newestRelease(prepared);
  if (release === null) return { outcome: 'current', version: running };
  if (!await mayRequest(agent, signal)) return { outcome: 'stopping', version: running };
  const due = await releases.try(running, keys);
  return due ? replaceAgent(agent, prepared, due) : pastFailure(prepared, release);
}

async function updateAgent(options, prepared) {
  const { releases, list, running } = prepared;
  if (!list) return replaceByNewest(options, prepared);
  await recordFailures(options.agent, releases);
  // Call try() first, since it also records that the running version is committed. If it fails, for
  // example because a release is damaged, continue: a newer version may still be fetched.
  let fault = null;
  const due = await releases.try(running, options.keys).catch((error) => {
    fault = error;
    return null;
  });
  if (due) return replaceAgent(options.agent, prepared, due);
  if (!list.newest_is_desired) {
    if (fault) throw fault;
    return { outcome: 'held', version: running };
  }
  if (!fault) return replaceByNewest(options, prepared);
  const ended = await replaceByNewest(options, prepared).catch((error) => {
    if (error.message === fault.message) throw fault;
    throw new UpdateError(error.deed, `${error.reason}; before that: ${fault.message}`);
  });
  if (ended.outcome === 'current') throw fault;
  return withWarning(ended, fault.message);
}

// ---- a daemon

async function updateOnce(options, prepared) {
  const { releases, list, running } = prepared;
  if (list && !list.newest_is_desired) return { outcome: 'held', version: running };
  const release = await newestRelease(prepared);
  if (release === null) return { outcome: 'current', version: running };
  if (release.last?.ending === 'failed' && !release.last.tried_again) {
    return failed(release, running);
  }
  if (running === undefined) {
    releases.start(release);
    return { outcome: 'installed', version: release.version };
  }
  return ending(prepared, release, options);
}

/** Described in index.d.ts. */
export async function update(options = {}) {
  if (busy) throw new UpdateError('update', 'another update of this process has not ended');
  busy = true;
  try {
    checkOptions(options);
    const { agent, signal } = options;
    if (agent) checkAgent(agent);
    const found = findReleases(options);
    // Read the releases only after mayRequest(), which may wait for a long time: an operator may
    // change the releases meanwhile.
    if (agent && !await mayRequest(agent, signal)) {
      return { outcome: 'stopping', version: found.running };
    }
    const prepared = await prepare(options, found);
    // Remove old releases before the upgrade: after a successful upgrade, this process no longer
    // runs.
    const { warning } = await prune(prepared, options);
    const ended = await (agent ? updateAgent : updateOnce)(options, prepared);
    return withWarning(ended, warning);
  } finally {
    busy = false;
  }
}
