// Draws the rollouts: for each, a picture of its batches, its progress in words, why nodes failed,
// and its last events.
'use strict';

// The sign for each stage of a node, as shown in the picture and its legend.
const signs = {waiting: '', preparing: '·', applying: '↑', soaking: '~', confirming: '…',
  confirmed: '✓', failed: '✕', kept: '✕', unconfirmed: '?', 'rolling-back': '↩', 'rolled-back': '↩',
  undone: '↩', 'not-judged': '↩', left: '–', unknown: '?'};
const failedStages = ['failed', 'kept', 'unconfirmed'];
const running = ['created', 'rolling', 'paused', 'aborting', 'undoing', 'baking'];
// Words for stages of a node and phases of its upgrade. Stages and phases that are not listed are
// shown by their own names.
const stageWords = {waiting: 'to come', confirmed: 'done', left: 'left as they were',
  unconfirmed: 'went back unconfirmed', kept: 'could not go back', 'not-judged': 'not judged',
  'cutover-ready': 'ready, waits for its turn'};
// If a rollout has more nodes than this, its picture does not show the names of the nodes.
const chipsShown = 24;
// If a rollout has more nodes than this, its picture has only one bar for each batch.
const cellsShown = 1000;
// If a rollout has more batches than this, its picture joins adjacent batches in the same stage.
const batchesShown = 12;
const failuresShown = 20;
const rolloutEventsShown = 12;

const failures = new Map();  // the groups of failed nodes, by the name of the rollout
// The number of failed nodes at the last reading of `failures`, by the name of the rollout.
const failureCounts = new Map();

const wordsOf = stage => stageWords[stage] || stage.replace('-', ' ');
const knows = stage => Object.hasOwn(signs, stage);
const signOf = stage => signs[knows(stage) ? stage : 'unknown'];

function kindOf(state) {
  return {completed: 'good', aborted: 'bad', aborting: 'bad', halted: 'bad', paused: 'warn',
    undoing: 'bad', undone: 'bad', stopping: 'warn', rolling: 'busy', running: 'busy',
    baking: 'busy'}[state] || '';
}

// Returns the stage of a node for the picture. The rollout's records call a node `applying` even
// while its new version soaks (works for some time before it is confirmed). `soaks` is true for
// such a node.
function stageOf(record, soaks) {
  const stage = record && knows(record.stage) ? record.stage : record ? 'unknown' : 'waiting';
  return stage === 'applying' && soaks ? 'soaking' : stage;
}

// Returns a string with the number of nodes in each stage, such as `3 done, 1 failed`.
function countWords(counts) {
  return Object.keys(signs).filter(stage => counts[stage])
    .map(stage => `${counts[stage]} ${wordsOf(stage)}`).join(', ') || 'no nodes';
}

function addCounts(sum, counts) {
  for (const [stage, count] of Object.entries(counts)) sum[stage] = (sum[stage] || 0) + count;
  return sum;
}

// Returns the batches in order, with their nodes' stages and the number of nodes in each stage.
// `first` and `last` are both the batch's number, counted from 1, until joined() makes one batch of
// several.
function batchesOf(records, rollout) {
  const soaking = new Set(rollout.soaking);
  const keys = Object.keys(records).filter(key => key.startsWith('batch/'))
    .sort((a, b) => a.slice(6) - b.slice(6));
  return keys.map((key, index) => {
    const nodes = (records[key].nodes || []).map(name =>
      [name, stageOf(records['node/' + name], soaking.has(name))]);
    const counts = {};
    for (const [, stage] of nodes) counts[stage] = (counts[stage] || 0) + 1;
    const now = running.includes(rollout.state) && index === rollout.batch;
    // The summary of a large rollout has only the number of soaking nodes, and not their names.
    if (now && !rollout.soaking && rollout.stages.soaking && counts.applying) {
      counts.soaking = Math.min(rollout.stages.soaking, counts.applying);
      counts.applying -= counts.soaking;
    }
    return {first: index + 1, last: index + 1, nodes, counts, now};
  });
}

// Joins adjacent batches whose nodes are all in the same stage, but only if there are too many
// batches to draw each.
function joined(batches) {
  if (batches.length <= batchesShown) return batches;
  const only = batch => Object.keys(batch.counts).length === 1 && !batch.now
    ? Object.keys(batch.counts)[0] : '';
  const result = [];
  for (const batch of batches) {
    const before = result[result.length - 1];
    if (before && only(before) && only(before) === only(batch)) {
      before.last = batch.last;
      before.nodes = before.nodes.concat(batch.nodes);
      addCounts(before.counts, batch.counts);
    } else {
      result.push({...batch, counts: {...batch.counts}});
    }
  }
  return result;
}

function nodeCell(rolloutName, [name, stage], record, named) {
  const why = record && record.error ? `: ${record.error}` : '';
  return make('li', {}, make('a', {class: (named ? 'chip ' : 'cell ') + stage, tabindex: '-1',
    href: '#node/' + name, 'data-key': `cell ${rolloutName} ${name}`, 'data-node': name,
    'data-stage': stage, 'aria-label': `${name}: ${wordsOf(stage)}${why}`},
  make('span', {'aria-hidden': 'true'}, signOf(stage) + (named ? ' ' + name : ''))));
}

function batchBar(counts, all) {
  const bar = make('div', {class: 'bar', 'aria-hidden': 'true'});
  for (const stage of Object.keys(signs)) {
    if (!counts[stage]) continue;
    const part = make('span', {class: stage});
    part.style.width = `${100 * counts[stage] / all}%`;
    bar.append(part);
  }
  return bar;
}

// Moves the focus between the cells of a picture with the arrow keys. The Tab key stops at a
// picture only once.
function moveByArrows(event) {
  const cells = [...event.currentTarget.querySelectorAll('a[data-node]')];
  const index = cells.indexOf(document.activeElement);
  const next = {ArrowRight: index + 1, ArrowDown: index + 1, ArrowLeft: index - 1,
    ArrowUp: index - 1, Home: 0, End: cells.length - 1}[event.key];
  if (index < 0 || next === undefined || !cells[next]) return;
  event.preventDefault();
  cells[index].tabIndex = -1;
  cells[next].tabIndex = 0;
  cells[next].focus();
}

function picture(name, records, summary) {
  const batches = batchesOf(records, summary);
  const total = batches.reduce((sum, batch) => addCounts(sum, batch.counts), {});
  const count = batches.reduce((sum, batch) => sum + batch.nodes.length, 0);
  const caption = `By batch: ${countWords(total)}`;
  const rows = joined(batches).map(batch => {
    const label = batch.first === batch.last ? `Batch ${batch.first}`
      : `Batches ${batch.first} to ${batch.last}`;
    const phase = batch.now && summary.phase !== 'unknown' ? `, ${summary.phase}` : '';
    const words = countWords(batch.counts);
    const drawn = count > cellsShown ? batchBar(batch.counts, batch.nodes.length)
      : make('ul', {class: 'cells'}, ...batch.nodes.map(node =>
        nodeCell(name, node, records['node/' + node[0]], count <= chipsShown)));
    return make('div', {class: batch.now ? 'batch now' : 'batch', role: 'group',
      'aria-label': `${label}${phase}: ${words}`},
    make('div', {class: 'batch-words'}, make('strong', {}, label + phase), ' ',
      make('span', {class: 'quiet'}, words)), drawn);
  });
  const legend = Object.keys(signs).filter(stage => total[stage]).map(stage => make('span', {},
    make('i', {class: 'cell ' + stage, 'aria-hidden': 'true'}, signOf(stage)),
    `${total[stage]} ${wordsOf(stage)}`));
  const figure = make('figure', {class: count > 100 ? 'dense' : '', 'aria-label': caption}, ...rows,
    make('figcaption', {class: 'legend', 'aria-label': caption}, ...legend));
  const [first] = figure.querySelectorAll('a[data-node]');
  if (first) first.tabIndex = 0;
  figure.addEventListener('keydown', moveByArrows);
  return figure;
}

// ---- failures

const known = value => typeof value === 'number' && value >= 0;

// Returns an element with the evidence that a node has reported about its failure, or null if there
// is no evidence.
function evidenceOf(record) {
  const [one] = Array.isArray(record.evidence) ? record.evidence : [];
  if (!one) return null;
  const facts = [one.stage ? `at ${one.stage}` : '', one.reason || '',
    known(one.exit_status) ? `exit status ${one.exit_status}` : '',
    one.signal > 0 ? `signal ${one.signal}` : '',
    known(one.lived_ms) ? `lived ${one.lived_ms / 1000} s` : '',
    known(one.peak_kib) ? `used ${size(one.peak_kib * 1024)} of memory at most` : '',
    known(one.cpu_ms) ? `used ${one.cpu_ms / 1000} s of processor` : ''].filter(fact => fact);
  const differs = (one.differs || []).length ? `Differs from the version before: ` +
    `${one.differs.join(', ')}` : '';
  return make('div', {class: 'evidence'}, make('div', {class: 'quiet'}, facts.join('; ')),
    (one.lines || []).length ? make('pre', {tabindex: '0', 'aria-label': 'The last lines'},
      one.lines.join('\n')) : null,
    differs ? make('div', {class: 'quiet'}, differs) : null);
}

const hasFailed = record => failedStages.includes(record.stage);

// Returns how many nodes have failed, according to the records that the page has read.
const failedIn = records => Object.entries(records)
  .filter(([key, record]) => key.startsWith('node/') && hasFailed(record)).length;

const whyOf = group => group.error || (group.stage === 'unconfirmed'
  ? 'got no order to keep the version in time, or its outcome is not known' : 'gave no reason');

// Returns the suspects: facts and labels, such as `arch=x86_64`, that nearly all failed nodes of
// this group have, and few other nodes.
function suspectsOf(group) {
  const lines = (group.suspects || []).map(one => `${one.mark}: ${one.failed} of these ` +
    `${group.nodes.length}, and ${one.others} of the other ${one.others_in_all}`);
  if (group.is_everybody) lines.push('every node that has begun failed so: the version itself');
  return lines.map(line => make('div', {class: 'quiet'}, `Suspect: ${line}`));
}

// Returns a list of the reasons why nodes failed, grouped as by `fleetctl why`.
function failureList(name) {
  const groups = failures.get(name) || [];
  if (!groups.length) return null;
  const count = groups.reduce((sum, group) => sum + group.nodes.length, 0);
  const head = `Why ${plural(count, 'node')} failed`;
  const items = groups.slice(0, failuresShown).map(group => make('li', {},
    make('span', {class: 'row'}, ...namesLinked(group.nodes),
      group.stage === 'failed' ? null : make('span', {class: 'quiet'}, wordsOf(group.stage))),
    make('div', {class: 'bad-text'}, whyOf(group)), evidenceOf(group), ...suspectsOf(group)));
  if (groups.length > failuresShown) {
    items.push(make('li', {}, `and ${plural(groups.length - failuresShown, 'other reason')}: ` +
      `fleetctl why ${name}`));
  }
  return make('div', {class: 'failures'}, make('h4', {}, head),
    make('ul', {class: 'lines', 'aria-label': head}, ...items));
}

// ---- the facts about one rollout and its last events, as text

function gateItem(rollout, name) {
  const gate = (rollout.gates || []).find(one => one.name === name);
  const says = gate ? gate.says.replace('-', ' ') : 'not asked yet';
  const words = gate && gate.words ? `: ${gate.words}` : '';
  return make('div', {class: gate && gate.says !== 'well' ? 'bad-text' : ''},
    `${name}: ${says}${words}`);
}

function factsOf(rollout, summary) {
  const pairs = make('dl', {class: 'pairs'});
  const add = (what, ...parts) => pairs.append(make('dt', {}, what), make('dd', {}, ...parts));
  add('begun by', summary.who || 'nobody known', summary.created ? ' at ' : '',
    eventTime(summary.created));
  if (summary.target) add('nodes', `${summary.nodes}, of the target ${summary.target}`);
  if (summary.order !== 'none' && summary.order !== 'unknown') {
    add('ordered', `${summary.order}, by ${summary.ordered_by || '?'}; not carried out yet`);
  } else if (summary.ordered_by) add('last order', `by ${summary.ordered_by}`);
  if (summary.driver) add('driven by', summary.driver);
  if (summary.not_before) add('until', 'not done before ', clock(summary.not_before));
  if (summary.goes_back) {
    add('goes back', 'without an order to keep the version, the first node goes back by itself ' +
      'about ', clock(summary.goes_back));
  }
  add('judge', summary.judge);
  const measures = summary.measures || [];
  if (measures.length) add('measures', ...measures.map(one => make('div', {}, one)));
  const gates = (rollout.terms || {}).gates || [];
  if (gates.length) add('gates', ...gates.map(name => gateItem(rollout, name)));
  for (const [what, list] of [['excluded', 'excluded'], ['not reached', 'not_covered'],
    ['unconfirmed', 'unconfirmed']]) {
    const names = rollout[list] || [];
    if (names.length) add(what, `${rollout[list + '_count'] || names.length}: `,
      make('span', {class: 'row'}, ...namesLinked(names)));
  }
  add('limits', make('ul', {}, ...summary.limits.map(limit => make('li', {}, limit))));
  return pairs;
}

// Returns whether the event is about the rollout or a consequence of it, such as an order to one of
// its nodes. The `trace` of a consequence is the rollout's name, or the id of the order that began
// the rollout (`rollout.trace`).
function isAbout(event, name, rollout) {
  return event.subject === 'rollout/' + name || event.trace === name ||
    Boolean(rollout.trace && event.trace === rollout.trace);
}

function rolloutEvents(name, summary) {
  const list = newest(Object.fromEntries([...earlier, ...events].filter(([, event]) =>
    isAbout(event, name, summary))));
  if (!list.length) return null;
  return make('div', {}, make('h4', {}, 'Last events'), make('ol', {class: 'events',
    'aria-label': `Last events of rollout ${name}`},
  ...gathered(list).slice(0, rolloutEventsShown).map(eventLine)));
}

function rolloutCard(name, summary) {
  const records = rollouts.get(name);
  const rollout = records && records[''] || summary;
  const head = make('div', {class: 'row'},
    make('h3', {id: 'head-' + name}, make('a', {href: '#rollout/' + name,
      'data-key': 'rollout ' + name}, name)),
    make('span', {class: 'grow'}, `${summary.component} ${summary.version}`),
    pill(summary.state, kindOf(summary.state)));
  const card = make('article', {class: 'card', id: 'rollout-' + name,
    'aria-labelledby': 'head-' + name}, head, make('p', {class: 'progress'}, summary.progress));
  if (summary.reason) card.append(make('p', {class: 'bad-text'}, summary.reason));
  card.append(ordersOf(name, summary));
  if (!records) {
    card.append(make('a', {href: '#rollout/' + name, 'data-key': 'more ' + name},
      `All of rollout ${name}`));
    return card;
  }
  const left = make('div', {}, picture(name, records, summary), failureList(name),
    rolloutEvents(name, summary));
  card.append(make('div', {class: 'halves'}, left, make('div', {}, factsOf(rollout, summary))));
  return card;
}

function shownRollouts() {
  const all = Object.entries(cell ? cell.rollouts : {});
  const weight = ([name, one]) => (asked === 'rollout/' + name ? 2 : 0) +
    (running.includes(one.state) ? 1 : 0);
  const created = ([, one]) => one.created || '';
  all.sort((a, b) => weight(b) - weight(a) || created(b).localeCompare(created(a)));
  return all.slice(0, rolloutsShown);
}

function drawRollouts() {
  if (!cell) return put(at('rollouts'), quiet('not read yet'));
  const cards = shownRollouts().map(([name, summary]) => rolloutCard(name, summary));
  put(at('rollouts'), ...(cards.length ? cards : [quiet('none yet')]));
}

// Reads a rollout's records from the controller. A record that changes before the answer comes
// replaces the one in the answer, which may be older.
async function loadRollout(name) {
  const changed = {};
  loading.set(name, changed);
  try {
    const found = await get('/v1/state/rollout/' + name + '/');
    const self = await get('/v1/state/rollout/' + name);
    const records = {...found, '': self, ...changed};
    for (const [below, record] of Object.entries(records)) if (!record) delete records[below];
    if (records[''] && loading.get(name) === changed) rollouts.set(name, records);
    const {trace} = (cell && cell.rollouts[name]) || {};
    const asks = [`subject=rollout/${name}`, `trace=${name}`];
    if (trace) asks.push(`trace=${encodeURIComponent(trace)}`);
    for (const which of asks) {
      const history = await get(`/v1/state/event?limit=${10 * rolloutEventsShown}&${which}`);
      for (const [number, event] of Object.entries(history || {})) earlier.set(number, event);
    }
  } finally {
    if (loading.get(name) === changed) loading.delete(name);
  }
}

// Asks the controller why nodes of a rollout failed, if more or fewer nodes than at the last time
// have failed.
async function loadFailures(name) {
  const count = rollouts.has(name) ? failedIn(rollouts.get(name)) : 0;
  if ((failureCounts.get(name) || 0) === count) return;
  const found = await get(`/v1/state/rollout/${name}?content=failures`);
  failures.set(name, (found && found.failures) || []);
  failureCounts.set(name, count);
}

async function loadRollouts() {
  for (const [index, [name, one]] of shownRollouts().entries()) {
    const wanted = index === 0 || running.includes(one.state) || asked === 'rollout/' + name;
    if (wanted && !rollouts.has(name)) await loadRollout(name);
    if (wanted) await loadFailures(name);
  }
}
