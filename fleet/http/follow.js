// Reads the data for the page: first the state of the cell, then each change. Calls page.js and
// rollout.js to draw the changed parts again.
'use strict';

const refusedTime = 10000;
// A controller sends an event at least every 15 seconds. After this time without an event, three
// events are missing.
const silenceMost = 50000;

let stream = null;    // the stream of changes, or null while the page is hidden
let follows = false;  // whether the stream brings the changes: it is open, and the store is heard
let nextTry = 0;      // the timer that replaces the stream by another one
let nodes = null;  // the records of all nodes; read only while the page shows them

// Adds the content of a node's record to the node's line in the list. Makes a string of each value,
// since a hostile node may write any JSON.
function addToLine(line, kind, record) {
  if (kind === 'versions') line.runs = Object.entries(record).filter(([of]) => of !== 'v')
    .map(([component, version]) => `${component} ${version}`).join(', ');
  if (kind === 'instance') {
    line.state = record.degraded || line.state === 'degraded' ? 'degraded' : 'reports';
    line.news = record.degraded ? `${record.degraded}` : line.news;
  }
  if (kind === 'upgrade' && record.phase !== 'done') {
    line.news = line.news || `${record.to}: ${record.phase} ${record.error || ''}`;
  }
}

async function loadNodes() {
  if (!at('nodes-open').open) return;
  const lines = new Map();
  for (const [key, record] of Object.entries(await get('/v1/state/node') || {})) {
    const [name, ...below] = key.split('/');
    const line = lines.get(name) || {name, state: 'silent', runs: '', news: ''};
    lines.set(name, line);
    showRecord(below.join('/'), record, () => addToLine(line, below[0], record),
      trouble => { line.news = line.news || trouble; });
  }
  nodes = [...lines.values()];
  filterNodes();
}

function filterNodes() {
  const part = at('filter').value.trim();
  const found = nodes.filter(
    line => !part || Object.values(line).some(text => text.includes(part)));
  const kinds = {reports: 'good', degraded: 'warn', silent: 'bad'};
  put(at('nodes'), quiet(`${found.length} of ${nodes.length}` +
    (found.length > nodesShown ? `, the first ${nodesShown}` : '')),
  ...found.slice(0, nodesShown).map(line => make('div', {class: 'node-line'},
    make('a', {href: '#node/' + line.name, 'data-key': 'line ' + line.name}, line.name),
    pill(line.state, kinds[line.state]),
    quiet([line.runs, line.news].filter(text => text).join('; ')))));
}

const loadNodesSoon = atMostEach(3000, loadNodes);
const drawNodeSoon = atMostEach(500, drawNode);
const drawRolloutsSoon = atMostEach(100, async () => { await loadRollouts(); drawRollouts(); });
const loadCellSoon = atMostEach(500, async () => {
  const found = await get('/v1/state');
  if (!follows) return;  // the page would say `live`; it reads the cell again when it follows
  cell = found;
  drawGlance();
  drawRolloutsSoon();
});

async function loadAll() {
  rollouts.clear();
  loading.clear();
  failures.clear();
  failureCounts.clear();
  events.clear();
  earlier.clear();
  const found = await get('/v1/state/event?limit=' + eventsShown);
  for (const [number, event] of Object.entries(found || {})) events.set(number, event);
  drawEvents();
  loadCellSoon();
  loadNodesSoon();
  drawNodeSoon();
}

const loadAllSoon = atMostEach(0, loadAll);

function takeRecord(key, record) {
  const [kind, name, ...rest] = key.split('/');
  if (kind === 'event' && record) events.set(name, record);
  if (kind === 'event' && record && ofRollouts(record)) earlier.set(name, record);
  const below = rest.join('/');
  if (kind === 'rollout' && loading.has(name)) loading.get(name)[below] = record;
  if (kind !== 'rollout' || !rollouts.has(name)) return;
  const records = rollouts.get(name);
  if (record) records[below] = record;
  else delete records[below];
  if (!record && below === '') rollouts.delete(name);
}

// Returns whether the event is about a rollout whose records the page has read.
function ofRollouts(event) {
  return [...rollouts].some(([name, records]) => isAbout(event, name, records[''] || {}));
}

function forgetOldest(map) {
  map.delete([...map.keys()].sort()[0]);
}

function takeChanges(changes) {
  follows = true;
  for (const [key, record] of Object.entries(changes.records)) takeRecord(key, record);
  while (events.size > 10 * eventsShown) forgetOldest(events);
  while (earlier.size > 10 * eventsShown * rolloutsShown) forgetOldest(earlier);
  const keys = Object.keys(changes.records);
  if (keys.some(key => key.startsWith('rollout/') || key.startsWith('event/'))) drawRolloutsSoon();
  if (keys.some(key => key.startsWith('event/'))) drawEvents();
  if (changes.nodes.length) loadNodesSoon();
  if (changes.nodes.includes(asked.slice(5)) || keys.some(key => key.startsWith('event/'))) {
    drawNodeSoon();
  }
  loadCellSoon();
}

function showLost(words, trouble) {
  follows = false;
  showLive(words, 'bad');
  showTrouble(trouble);
}

// Opens another stream after `ms` milliseconds, and shows then why.
function followAgain(ms, trouble) {
  clearTimeout(nextTry);
  nextTry = setTimeout(() => { showLost('not connected', trouble); follow(); }, ms);
}

function leave() {
  clearTimeout(nextTry);
  if (stream) stream.close();
  stream = null;
  follows = false;
}

function takeHello(said) {
  follows = said.follows;
  if (follows) loadAllSoon();  // otherwise the event `trouble` comes next
}

// After a trouble, such as a request without an answer, the next beat makes the page read again.
function takeBeat(said) {
  if (!said.follows || at('live').textContent === 'live') return;
  follows = true;
  loadAllSoon();
}

function follow() {
  leave();
  stream = new EventSource('/v1/changes');
  const opened = stream;
  const silent = 'The controller sends nothing';
  followAgain(patience, silent);
  const on = (name, take) => opened.addEventListener(name, event => {
    followAgain(silenceMost, silent);
    try { take(JSON.parse(event.data)); } catch (error) { showError(error); }
  });
  on('hello', takeHello);
  on('beat', takeBeat);
  on('changes', takeChanges);
  on('trouble', said => showLost('no store', storeTrouble(said.reason)));
  // A browser reconnects after a lost connection, but not if the server refuses it: too many
  // clients follow the cell, or the client's certificate was revoked or has expired. So try again
  // later.
  opened.onerror = () => {
    const lost = 'The controller cannot be followed';
    showLost('not connected', lost);
    if (opened.readyState === EventSource.CLOSED) followAgain(refusedTime, lost);
  };
}

// Follows the cell only while a person can see the page: a browser makes at most six connections to
// one server, and each stream uses one. When the page is shown again, it may show records that are
// hours old.
function followIfSeen() {
  if (!document.hidden) return follow();
  leave();
  showLive('connecting', '');
  showAnswer('The cell is being read.', '');
}

// Returns the fragment of the URL. A person may have typed it, with a `%` that begins no escape.
function fragment() {
  const text = location.hash.slice(1);
  try { return decodeURIComponent(text); } catch (error) { return text; }
}

function takeAddress() {
  asked = fragment();
  drawNodeSoon();
  drawRolloutsSoon();
  if (asked.startsWith('node/')) at('node').scrollIntoView({block: 'start'});
}

addEventListener('hashchange', takeAddress);
at('nodes-open').addEventListener('toggle', loadNodesSoon);
at('filter').addEventListener('input', () => nodes && filterNodes());
document.addEventListener('visibilitychange', followIfSeen);
takeAddress();
followIfSeen();
