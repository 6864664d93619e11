// Draws the page from the data that follow.js has read.
'use strict';

const signs = {waiting: '', preparing: '·', applying: '↑', soaking: '~', confirming: '…',
  confirmed: '✓', failed: '✕', unconfirmed: '?', 'rolling-back': '↩', 'rolled-back': '↩',
  left: '–', undone: '↩', kept: '✕', 'not-judged': '↩', unknown: '?'};
const running = ['created', 'rolling', 'paused', 'aborting', 'undoing', 'baking'];
const eventsShown = 30;
const nodesShown = 300;
const rolloutsShown = 10;

let cell = null;             // the summary of the cell
const rollouts = new Map();  // by the rollout's name: its records, by the rest of their keys
const loading = new Map();   // by the name of a rollout that is being read: the changes since then
const events = new Map();    // by the event's number: its record
let asked = '';              // the node or the rollout in the page's address

const at = id => document.getElementById(id);

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'class') element.className = value;
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const plural = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const pill = (text, kind) => make('span', {class: 'pill ' + (kind || '')}, text);
const quiet = text => make('div', {class: 'quiet'}, text);
const size = bytes => bytes < 1048576 ? `${Math.ceil(bytes / 1024)} KiB`
  : `${(bytes / 1048576).toFixed(1)} MiB`;

// An error whose message is written for the user and says what has failed. Any other error is a
// fault of the page itself.
class Told extends Error {}

const storeTrouble = reason => `The store cannot be heard: ${reason}`;

async function get(path) {
  const told = words => error => { throw new Told(`${words}: ${error.message}`); };
  const response = await fetch(path).catch(told('The controller cannot be reached'));
  if (response.status === 404) return null;
  const body = await response.json().catch(told(`The answer to ${path} cannot be read`));
  if (response.status === 503) throw new Told(storeTrouble(body.reason));
  if (!response.ok) throw new Told(`The controller refuses ${path}: ${body.reason}`);
  return body;
}

// Returns a function that calls `call` at most once in `ms`, and once more if it was called
// meanwhile.
function atMostEach(ms, call) {
  let timer = 0;
  let again = false;
  return function ask() {
    if (timer) { again = true; return; }
    timer = setTimeout(async () => {
      try { await call(); } catch (error) { showError(error); }
      timer = 0;
      if (again) { again = false; ask(); }
    }, ms);
  };
}

function showError(error) {
  showTrouble(error instanceof Told ? error.message : `The page has failed: ${error.message}`);
}

function showTrouble(trouble) {
  const stop = cell && cell.stop;
  const text = trouble ? `${trouble}. What is shown may be old.`
    : stop ? `Nothing begins: stopped by ${stop.who || '?'} since ${stop.since || '?'}` +
      (stop.why ? `, ${stop.why}` : '') : '';
  at('banner').textContent = text;
  at('banner').hidden = !text;
}

function showLive(text, kind) {
  at('live').textContent = text;
  at('live').className = 'pill ' + kind;
}

// ---- the cell at a glance

function versionsCard() {
  const card = make('div', {class: 'card'}, make('h3', {}, 'Versions'));
  for (const [component, counts] of Object.entries(cell.versions)) {
    const desired = cell.desired[component];
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const bar = make('div', {class: 'bar'});
    const words = make('div', {class: 'row quiet'});
    Object.entries(counts).sort((a, b) => b[1] - a[1]).forEach(([version, count], index) => {
      const part = make('span', {class: `share${index % 4}`, title: `${version}: ${count}`});
      part.style.width = `${100 * count / all}%`;
      bar.append(part);
      words.append(make('span', {}, make('span', {class: `swatch share${index % 4}`}),
        `${version}: ${count}`));
    });
    card.append(make('div', {class: 'row'}, make('strong', {}, component),
      desired ? make('span', {class: 'quiet'}, `desired: ${desired}`) : null), bar, words);
  }
  if (!Object.keys(cell.versions).length) card.append(quiet('no node has said yet'));
  return card;
}

function nodesCard() {
  const of = cell.nodes;
  const card = make('div', {class: 'card'}, make('h3', {}, 'Nodes'),
    make('div', {class: 'figure'}, `${of.reporting} / ${of.all}`),
    quiet(`report; ${of.upgrading} upgrading`));
  const list = (words, names) => {
    if (!names.length) return;
    const line = make('div', {class: 'row'}, make('span', {class: 'bad-text'}, words));
    names.slice(0, 8).forEach(([name, why]) =>
      line.append(make('a', {href: '#node/' + name, title: why}, name)));
    if (names.length > 8) line.append(`and ${names.length - 8} more`);
    card.append(line);
  };
  list('silent:', of.silent.map(name => [name]));
  list('degraded:', Object.entries(of.degraded));
  return card;
}

function storeCard() {
  const members = Object.entries(cell.store.members);
  const good = members.filter(([, member]) => member.answers).length;
  const card = make('div', {class: 'card'}, make('h3', {}, 'Store'),
    make('div', {class: 'figure'}, `${good} / ${members.length}`),
    quiet(cell.store.quorum ? 'members answer: quorum' : 'members answer: no quorum'));
  const bytes = Math.max(0, ...members.map(([, member]) => member.database_bytes));
  card.append(quiet(`database ${size(bytes)}; change ${cell.revision}`));
  if (cell.store.no_space) card.append(make('div', {class: 'bad-text'}, 'NOSPACE: no more writes'));
  for (const [what, seconds] of Object.entries(cell.certificates)) {
    const days = Math.floor((seconds - Date.now() / 1000) / 86400);
    const words = days < 0 ? 'has ended' : `ends in ${plural(days, 'day')}`;
    card.append(make('div', {class: days < 14 ? 'bad-text' : 'quiet'},
      `certificate (${what}) ${words}`));
  }
  return card;
}

function drawGlance() {
  at('glance').replaceChildren(nodesCard(), versionsCard(), storeCard());
  at('status').textContent = cell.status;
  at('status').className = 'pill ' + ({stopped: 'bad', running: 'busy'}[cell.status] || 'good');
  showTrouble('');
  const plans = Object.entries(cell.plans);
  at('plans-section').hidden = !plans.length;
  at('plans').replaceChildren(...plans.map(([name, plan]) => make('div', {class: 'card'},
    make('div', {class: 'row'}, make('strong', {}, name), pill(plan.state, kindOf(plan.state)),
      make('span', {class: 'quiet'}, `step ${plan.step} of ${plan.steps}, ` +
        plural(plan.members, 'member'))),
    plan.error ? make('div', {class: 'bad-text'}, plan.error) : null)));
}

// ---- rollouts

function kindOf(state) {
  return {completed: 'good', aborted: 'bad', aborting: 'bad', halted: 'bad', paused: 'warn',
    undoing: 'bad', undone: 'bad', stopping: 'warn', rolling: 'busy', running: 'busy', baking: 'busy'}[state] || '';
}

function stageOf(record, rollout) {
  const stage = record ? record.stage : 'waiting';
  return stage === 'applying' && rollout.phase === 'soaking' ? 'soaking' : stage;
}

function picture(records, rollout) {
  const counts = {};
  const batches = Object.keys(records).filter(key => key.startsWith('batch/'))
    .sort((a, b) => a.slice(6) - b.slice(6));
  const count = batches.reduce((sum, key) => sum + (records[key].nodes || []).length, 0);
  const frame = make('div', {class: count > 400 ? 'dense' : ''});
  batches.forEach((key, index) => {
    const cells = make('div', {class: 'cells'});
    for (const name of records[key].nodes || []) {
      const record = records['node/' + name];
      const stage = stageOf(record, rollout);
      counts[stage] = (counts[stage] || 0) + 1;
      const words = `${name}: ${stage}` + (record && record.error ? `: ${record.error}` : '');
      cells.append(make('a', {class: 'cell ' + stage, href: '#node/' + name, title: words,
        'aria-label': words}, signs[stage] || ''));
    }
    const now = running.includes(rollout.state) && index === rollout.batch;
    frame.append(make('div', {class: now ? 'batch now' : 'batch'},
      make('div', {class: 'quiet'}, `batch ${index + 1}`,
        now ? make('div', {}, rollout.phase === 'unknown' ? '' : rollout.phase) : null), cells));
  });
  const legend = make('div', {class: 'legend'});
  for (const stage of Object.keys(signs)) {
    if (counts[stage]) legend.append(make('span', {},
      make('i', {class: 'cell ' + stage, 'aria-hidden': 'true'}, signs[stage]),
      `${stage} ${counts[stage]}`));
  }
  frame.append(legend);
  return frame;
}

function rolloutCard(name, summary) {
  const records = rollouts.get(name);
  const rollout = records && records[''] || summary;
  const terms = rollout.terms || summary;
  const card = make('article', {class: 'card', id: 'rollout-' + name},
    make('div', {class: 'row'},
      make('a', {href: '#rollout/' + name}, make('strong', {}, name)),
      make('span', {class: 'grow'}, `${terms.component} ${terms.version}`),
      pill(rollout.state, kindOf(rollout.state))));
  const failed = rollout.failed ? `, ${rollout.failed} failed` : '';
  const who = rollout.driver ? `, driven by ${rollout.driver}` : '';
  card.append(quiet(`${Math.min(rollout.batch, rollout.batches)} of ` +
    `${plural(rollout.batches, 'batch').replace('batchs', 'batches')} done${failed}${who}`));
  if (rollout.reason) card.append(make('div', {class: 'bad-text'}, rollout.reason));
  for (const gate of rollout.gates || []) {
    card.append(make('div', {class: gate.says === 'well' ? 'quiet' : 'bad-text'},
      `gate ${gate.name}: ${gate.says.replace('-', ' ')}${gate.words ? ': ' + gate.words : ''}`));
  }
  if (records) card.append(picture(records, rollout));
  return card;
}

function shownRollouts() {
  const all = Object.entries(cell ? cell.rollouts : {});
  const weight = ([name, one]) => (asked === 'rollout/' + name ? 2 : 0) +
    (running.includes(one.state) ? 1 : 0);
  all.sort((a, b) => weight(b) - weight(a) || (b[1].created || '').localeCompare(a[1].created || ''));
  return all.slice(0, rolloutsShown);
}

function drawRollouts() {
  if (!cell) return at('rollouts').replaceChildren(quiet('not read yet'));
  const cards = shownRollouts().map(([name, summary]) => rolloutCard(name, summary));
  at('rollouts').replaceChildren(...(cards.length ? cards : [quiet('none yet')]));
}

// Reads a rollout. Changes that arrive meanwhile may be newer than the answers, so they replace
// these.
async function loadRollout(name) {
  const changed = {};
  loading.set(name, changed);
  try {
    const found = await get('/v1/state/rollout/' + name + '/');
    const self = await get('/v1/state/rollout/' + name);
    const records = {...found, '': self, ...changed};
    for (const [below, record] of Object.entries(records)) if (!record) delete records[below];
    if (records[''] && loading.get(name) === changed) rollouts.set(name, records);
  } finally {
    if (loading.get(name) === changed) loading.delete(name);
  }
}

async function loadRollouts() {
  for (const [index, [name, one]] of shownRollouts().entries()) {
    const wanted = index === 0 || running.includes(one.state) || asked === 'rollout/' + name;
    if (wanted && !rollouts.has(name)) await loadRollout(name);
  }
}

// ---- events, and one node

function eventLine([, event]) {
  const time = (event.time || '').replace('T', ' ').replace('Z', '');
  const [, id] = /^node\/([^/]+)/.exec(event.subject || '') || [];
  const subject = id ? make('a', {href: '#node/' + id}, event.subject) : event.subject;
  // If no certificate has proved the name, it is only a claim.
  const by = event.who ? (event.proved ? `, by ${event.who}` : `, says ${event.who}`) : '';
  return make('li', {}, make('time', {datetime: event.time}, time),
    make('div', {}, subject || '', ` ${event.text || ''}${by}`));
}

const newest = found => Object.entries(found).sort((a, b) => b[0].localeCompare(a[0]));

function drawEvents() {
  const lines = newest(Object.fromEntries(events)).slice(0, eventsShown).map(eventLine);
  at('events').replaceChildren(...(lines.length ? lines : [make('li', {}, 'none yet')]));
}

async function drawNode() {
  const name = asked.startsWith('node/') ? asked.slice(5) : '';
  at('node').hidden = !name;
  if (!name) return;
  const records = await get('/v1/state/node/' + encodeURIComponent(name));
  const history = await get('/v1/state/event?limit=50&subject=node/' + encodeURIComponent(name));
  const pairs = make('dl', {class: 'pairs'});
  const add = (what, text) => pairs.append(make('dt', {}, what), make('dd', {}, text));
  let reports = false;
  for (const [key, record] of Object.entries(records || {})) {
    const [kind, of] = key.split('/');
    if (kind === 'versions') Object.entries(record).filter(([of]) => of !== 'v')
      .forEach(([component, version]) => add('runs', `${component} ${version}`));
    if (kind === 'instance') {
      reports = true;
      add('instance', `${record.version || 'unknown'}, ${record.phase || 'lives'}` +
        `, since ${record.since || '?'}` + (record.degraded ? `: ${record.degraded}` : ''));
    }
    if (kind === 'upgrade') add('upgrade', `${of} ${record.to || ''}: ${record.phase}` +
      (record.error ? `: ${record.error}` : ''));
    if (kind === 'claim') add('moved by', `${of}: ${record.by}`);
    if (kind === 'info') Object.entries({...record.facts, ...record.labels})
      .forEach(([fact, value]) => add(fact, value));
  }
  const card = make('div', {class: 'card'}, make('div', {class: 'row'},
    make('h2', {class: 'grow'}, name), pill(reports ? 'reports' : 'silent', reports ? 'good' : 'bad'),
    make('a', {href: '#'}, 'close')), records ? pairs : quiet('nothing is known of it'),
    make('h3', {}, 'History'), make('ol', {class: 'events'}, ...newest(history || {}).map(eventLine)));
  at('node').replaceChildren(card);
}
