// Draws the page from the data that follow.js has read.
'use strict';

const eventsShown = 30;
const nodesShown = 300;
const rolloutsShown = 10;
const namesShown = 8;
// For how long the page waits for an answer of the controller. A browser sends no request at all
// while six tabs with streams of changes use all the connections that it makes to one server.
const patience = 30000;

let cell = null;  // the summary of the cell that was read last
// The rollouts that the page has read, by name. Each is an object with the rollout's records, by
// the part of the key after the rollout's name, such as `batch/1`.
const rollouts = new Map();
// The rollouts that are being read now, by name, with the records that have changed meanwhile.
const loading = new Map();
const events = new Map();    // the newest events of the cell, by their numbers
const earlier = new Map();   // events of the rollouts that are shown, by their numbers
let asked = '';              // the node or rollout that the fragment of the URL names

const at = id => document.getElementById(id);

// Characters that are not drawn, but command how others are drawn. base/shown.cc has the same for a
// terminal, and also escapes line breaks and tabs, which a browser draws as blanks.
const commandCharacters = new RegExp('[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200b-\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u2069\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]', 'gu');

// Returns the text with escapes such as \u{202e} in the place of these characters.
const visible = text => text.replace(commandCharacters,
  character => `\\u{${character.codePointAt(0).toString(16)}}`);

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'class') element.className = value;
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined)
    .map(child => child instanceof Node ? child : visible(`${child}`)));
  return element;
}

const plural = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const pill = (text, kind) => make('span', {class: 'pill ' + (kind || '')}, text);
const quiet = text => make('div', {class: 'quiet'}, text);
const two = number => String(number).padStart(2, '0');

// Returns a time, in seconds since 1970, in this browser's time zone. Leaves out today's date.
function clock(seconds, exactly) {
  const date = new Date(seconds * 1000);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}` +
    (exactly ? `:${two(date.getSeconds())}` : '');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `;
  const words = date.toDateString() === new Date().toDateString() ? time : day + time;
  return make('time', {datetime: date.toISOString()}, words);
}

// Replaces the children of `host`. Keeps the keyboard focus and the open parts, which are found
// again by their attribute `data-key`.
function put(host, ...children) {
  const active = document.activeElement;
  const key = host.contains(active) ? active.dataset.key : undefined;
  const open = new Set([...host.querySelectorAll('details[open]')].map(part => part.dataset.key));
  host.replaceChildren(...children);
  for (const part of host.querySelectorAll('details')) {
    if (open.has(part.dataset.key)) part.open = true;
  }
  const next = key && host.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (next) next.focus({preventScroll: true});
}

// Shows the text in this element. Leaves the element alone if it shows the text already, since a
// screen reader reads each change aloud.
function tell(id, words) {
  const text = visible(words);
  if (at(id).textContent !== text) at(id).textContent = text;
  at(id).hidden = !text;
}

const size = bytes => bytes < 1048576 ? `${Math.ceil(bytes / 1024)} KiB`
  : `${(bytes / 1048576).toFixed(1)} MiB`;

// An error whose message is for the user. Any other error is a bug of the page.
class Told extends Error {}

const storeTrouble = reason => `The store cannot be heard: ${reason}`;

async function get(path) {
  const told = words => error => { throw new Told(`${words}: ${error.message}`); };
  const response = await fetch(path, {signal: AbortSignal.timeout(patience)})
    .catch(told('The controller cannot be reached'));
  if (response.status === 404) return null;
  const body = await response.json().catch(told(`The answer to ${path} cannot be read`));
  if (response.status === 503) throw new Told(storeTrouble(body.reason));
  if (!response.ok) throw new Told(`The controller refuses ${path}: ${body.reason}`);
  return body;
}

// Returns a function that runs `call` after `ms` milliseconds. Further calls before the end of
// `call` cause only one more run, `ms` milliseconds later.
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
  showLive('not live', 'bad');
  showTrouble(error instanceof Told ? error.message : `The page has failed: ${error.message}`);
}

function showTrouble(trouble) {
  tell('banner', trouble ? `${trouble}. What is shown may be old.` : '');
  if (trouble) showAnswer(`Nobody can say: ${trouble}.`, 'bad');
}

function showLive(text, kind) {
  at('live').textContent = text;
  at('live').className = 'pill ' + kind;
}

// ---- the first line of the page: does anybody have to act now?

function showAnswer(text, kind) {
  tell('answer', text);
  at('answer').className = 'answer ' + kind;
}

function answerOf(outlook) {
  const {moves, waits} = outlook;
  const moving = moves.length ? `${plural(moves.length, 'thing')} under way` : 'Nothing moves';
  if (waits.length) {
    return [`Not yet: ${plural(waits.length, 'thing')} ` +
      `${waits.length === 1 ? 'waits' : 'wait'} for a person. ${moving}.`, 'bad'];
  }
  return moves.length
    ? [`Yes: ${moving}, which ${moves.length === 1 ? 'needs' : 'need'} nobody.`, 'good']
    : ['Yes: nothing moves, and nothing waits for a person.', 'good'];
}

function subjectLink(subject, words) {
  const [, kind, name] = /^(rollout|node)\/([^/]+)/.exec(subject) || [];
  return name ? make('a', {href: `#${kind}/${name}`, 'data-key': 'to ' + subject}, words)
    : make('span', {}, words);
}

function outlookList(title, lines, kind) {
  if (!lines.length) return null;
  const items = lines.map(line => make('li', {}, subjectLink(line.subject, line.text),
    line.not_before ? make('span', {}, '; not done before ', clock(line.not_before)) : null,
    ...line.commands.map(commandLine)));
  return make('div', {}, make('h2', {class: kind}, title),
    make('ul', {class: 'lines', 'aria-label': title}, ...items));
}

function drawOutlook() {
  const {moves, waits, notes} = cell.outlook;
  showAnswer(...answerOf(cell.outlook));
  const lists = [outlookList('Waits for a person', waits, 'bad-text'),
    outlookList('Under way', moves, ''), outlookList('To know, without haste', notes, 'quiet')];
  put(at('outlook-lines'), ...lists.filter(list => list));
}

// ---- the overview of the cell: cards about its versions, its nodes and its store

function versionsCard() {
  const card = make('div', {class: 'card'}, make('h3', {}, 'Versions'));
  for (const [component, counts] of Object.entries(cell.versions)) {
    const desired = Object.hasOwn(cell.desired, component) && cell.desired[component];
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const bar = make('div', {class: 'bar', 'aria-hidden': 'true'});
    const words = make('div', {class: 'row quiet'});
    Object.entries(counts).sort((a, b) => b[1] - a[1]).forEach(([version, count], index) => {
      const part = make('span', {class: `share${index % 4}`, 'aria-hidden': 'true'});
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

// Returns links to the first of these nodes, and a string with the number of the remaining nodes.
function namesLinked(names) {
  const parts = names.slice(0, namesShown).map(name => make('a',
    {href: '#node/' + name, 'data-key': 'node ' + name}, name));
  if (names.length > namesShown) parts.push(`and ${names.length - namesShown} more`);
  return parts;
}

function nodesCard() {
  const of = cell.nodes;
  const card = make('div', {class: 'card'}, make('h3', {}, 'Nodes'),
    make('div', {class: 'figure'}, `${of.reporting} / ${of.all}`),
    quiet(`report; ${of.upgrading} upgrading`));
  const list = (words, names) => {
    if (!names.length) return;
    const line = make('div', {class: 'row'}, make('span', {class: 'bad-text'}, words));
    line.append(...namesLinked(names));
    card.append(line);
  };
  list('silent:', of.silent);
  list('degraded:', Object.keys(of.degraded));
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
  drawOutlook();
  put(at('glance'), nodesCard(), versionsCard(), storeCard());
  at('you').textContent = visible(cell.you.name || 'without a certificate');
  at('status').textContent = cell.status;
  at('status').className = 'pill ' + ({stopped: 'bad', running: 'busy'}[cell.status] || 'good');
  showTrouble('');
  showLive('live', 'good');
  const plans = Object.entries(cell.plans);
  at('plans-section').hidden = !plans.length;
  at('plans').replaceChildren(...plans.map(([name, plan]) => make('div', {class: 'card'},
    make('div', {class: 'row'}, make('strong', {}, name), pill(plan.state, kindOf(plan.state)),
      make('span', {class: 'quiet'}, `step ${plan.step} of ${plan.steps}, ` +
        plural(plan.members, 'member'))),
    plan.error ? make('div', {class: 'bad-text'}, plan.error) : null)));
}

// ---- the list of events, and the details of one node

// If no certificate proves the person's name, show it as a claim: `says NAME`.
const byWhom = event => !event.who ? ''
  : event.proved ? `, by ${event.who}` : `, says ${event.who}`;

// Joins events that have the same class, text and person. Returns for each group its first event,
// the number of its events, and all their subjects.
function gathered(list) {
  const groups = new Map();
  for (const event of list) {
    const key = JSON.stringify([event.class, event.text, byWhom(event)]);
    const group = groups.get(key) || {event, count: 0, subjects: []};
    groups.set(key, group);
    ++group.count;
    if (!group.subjects.includes(event.subject)) group.subjects.push(event.subject);
  }
  return [...groups.values()];
}

function eventSubjects(subjects) {
  const shown = subjects.slice(0, 4).map(subject => subjectLink(subject || '', subject || ''));
  const parts = shown.flatMap((part, index) => index ? [', ', part] : [part]);
  if (subjects.length > 4) parts.push(` and ${subjects.length - 4} more`);
  return parts;
}

// Returns the time of an event in this browser's time zone.
function eventTime(text) {
  const seconds = Date.parse(text) / 1000;
  return Number.isFinite(seconds) ? clock(seconds, true) : make('time', {}, text || '');
}

function eventLine({event, count, subjects}) {
  const times = count > 1 ? make('span', {class: 'pill'}, plural(count, 'time')) : null;
  return make('li', {}, eventTime(event.time),
    make('div', {}, ...eventSubjects(subjects), ` ${event.text || ''}${byWhom(event)} `, times));
}

// Returns the events, the newest first. `found` is an object with the events by number.
const newest = found => Object.entries(found).sort((a, b) => b[0].localeCompare(a[0]))
  .map(([, event]) => event);

function drawEvents() {
  const lines = gathered(newest(Object.fromEntries(events))).slice(0, eventsShown).map(eventLine);
  put(at('events'), ...(lines.length ? lines : [make('li', {}, 'none yet')]));
}

// Shows one record of a node with `show`. The node may be hostile, so each record is shown on its
// own, and cannot hide others. If `show` fails, or if the record is only a string (why the
// controller cannot read it), calls `say` with the reason.
function showRecord(key, record, show, say) {
  if (typeof record === 'string') { say(`${key}: ${record}`); return; }
  try {
    show();
  } catch (error) {
    say(`${key}: the record cannot be shown: ${error.message}`);
  }
}

// Adds the content of a node's record to the list about the node.
function addRecord(add, key, record) {
  const [kind, of] = key.split('/');
  if (kind === 'versions') Object.entries(record).filter(([of]) => of !== 'v')
    .forEach(([component, version]) => add('runs', `${component} ${version}`));
  if (kind === 'instance') {
    add('instance', `${record.version || 'unknown'}, ${record.phase || 'lives'}` +
      `, since ${record.since || '?'}` + (record.degraded ? `: ${record.degraded}` : ''));
  }
  if (kind === 'upgrade') {
    add('upgrade', `${of} ${record.to || ''}: ${wordsOf(record.phase || 'unknown')}` +
      (record.error ? `: ${record.error}` : ''), evidenceOf(record));
  }
  if (kind === 'claim') add('moved by', `${of}: ${record.by}`);
  if (kind === 'info') Object.entries({...record.facts, ...record.labels})
    .forEach(([fact, value]) => add(fact, value));
}

async function drawNode() {
  const name = asked.startsWith('node/') ? asked.slice(5) : '';
  at('node').hidden = !name;
  if (!name) return;
  const records = await get('/v1/state/node/' + encodeURIComponent(name));
  const history = await get('/v1/state/event?limit=50&subject=node/' + encodeURIComponent(name));
  const pairs = make('dl', {class: 'pairs'});
  const add = (what, ...parts) => pairs.append(make('dt', {}, what), make('dd', {}, ...parts));
  const found = Object.entries(records || {});
  for (const [key, record] of found) {
    showRecord(key, record, () => addRecord(add, key, record), trouble => add('damaged', trouble));
  }
  const reports = found.some(([key, record]) =>
    key.startsWith('instance/') && typeof record !== 'string');
  const head = make('div', {class: 'row'}, make('h2', {class: 'grow'}, name),
    reports ? pill('reports', 'good') : pill('silent', 'bad'),
    make('a', {href: '#', 'data-key': 'close'}, 'close'));
  const lines = gathered(newest(history || {})).map(eventLine);
  put(at('node'), make('div', {class: 'card'}, head,
    records ? pairs : quiet('nothing is known of it'),
    make('h3', {}, 'History'), make('ol', {class: 'events'}, ...lines)));
}
