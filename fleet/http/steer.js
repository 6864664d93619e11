// Shows the orders that can be given to a rollout: buttons for a person whose role allows orders,
// and for everybody commands of fleetctl to copy.
'use strict';

const copiedTime = 2000;
// How often an order is tried. A try fails if a controller writes the rollout's record at the same
// moment. The next try is made only if the rollout is still in the state that the person has seen.
const triesMost = 8;

// The orders: the words on the button, the value of `order` in the request, the command of
// fleetctl, and the consequences in a sentence.
const orders = {
  pause: {words: 'Pause', order: 'pause', command: 'pause',
    then: 'The batch under way is finished, and then nothing more begins until somebody ' +
      'resumes it.'},
  resume: {words: 'Resume', order: 'none', command: 'resume',
    then: 'The rollout continues with the next batch, or does the same batch again.'},
  abort: {words: 'Abort', order: 'abort', command: 'abort',
    then: 'Nodes that have not been ordered to keep the new version go back. Those that keep it ' +
      'stay as they are; fleetctl rollout undo takes them back, too.'},
};

// Returns the orders that a controller accepts for a rollout in this state.
function ordersFor({state, order}) {
  const isOver = !['created', 'rolling', 'paused', 'baking'].includes(state);
  if (isOver || order === 'abort' || order === 'abort-and-leave') return [];
  if (state === 'paused' || order === 'pause') return ['resume', 'abort'];
  return state === 'rolling' ? ['pause', 'abort'] : ['abort'];
}

// ---- commands that a person can copy

const copyWords = 'Copy';

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch (error) {
    getSelection().selectAllChildren(button.previousSibling);
    button.textContent = 'Selected';
  }
  clearTimeout(button.copied);
  button.copied = setTimeout(() => { button.textContent = copyWords; }, copiedTime);
}

function commandLine(command) {
  const button = make('button', {type: 'button', class: 'copy', 'aria-label': `Copy: ${command}`,
    'data-key': 'copy ' + command}, copyWords);
  button.addEventListener('click', () => copy(button, command));
  return make('div', {class: 'command'}, make('code', {}, command), button);
}

// ---- orders that the page sends

function whyNoOrders() {
  if (location.protocol !== 'https:') return 'Without TLS this page only shows.';
  return `${cell.you.name || 'A client without a name'} may look, and not order.`;
}

function ordersOf(name, summary) {
  const wanted = ordersFor(summary);
  const commands = wanted.map(order => `fleetctl rollout ${orders[order].command} ${name}`);
  commands.push(`fleetctl rollout show ${name}`);
  const list = make('details', {class: 'commands', 'data-key': 'commands ' + name,
    'aria-label': `Commands for rollout ${name}`},
    make('summary', {'data-key': 'commands of ' + name}, 'Commands to copy'),
    ...commands.map(commandLine));
  const box = make('div', {class: 'orders', role: 'group',
    'aria-label': `Orders to rollout ${name}`});
  if (wanted.length && cell.you.orders) {
    box.append(make('div', {class: 'row'}, ...wanted.map(order => {
      const button = make('button', {type: 'button', class: order === 'abort' ? 'danger' : '',
        'data-key': `${order} ${name}`, 'data-order': order,
        'aria-label': `${orders[order].words} rollout ${name}`}, orders[order].words);
      button.addEventListener('click', () => askFor(name, order, summary));
      return button;
    })));
  } else if (wanted.length) box.append(quiet(whyNoOrders()));
  box.append(list);
  return box;
}

// Asks the person to confirm the order in a dialog, and then sends it.
function askFor(name, order, summary) {
  const {words, then} = orders[order];
  const seen = {state: summary.state, order: summary.order};
  at('ask-head').textContent = `${words} rollout ${name}?`;
  at('ask-text').textContent =
    visible(`${summary.component} ${summary.version}: ${summary.progress}. ${then}`);
  at('ask-yes').textContent = `${words} ${name}`;
  at('ask-yes').className = order === 'abort' ? 'danger' : '';
  at('ask-yes').onclick = () => {
    at('ask').close();
    give(name, order, seen).then(said => tell('said', said)).catch(error =>
      tell('said', `${words} ${name}: ${error.message}`));
  };
  at('ask-no').onclick = () => at('ask').close();
  at('ask').onclose = () => {
    const button = document.querySelector(`[data-key="${CSS.escape(`${order} ${name}`)}"]`);
    if (button) button.focus({preventScroll: true});
  };
  at('ask').showModal();
  if (order === 'abort') at('ask-no').focus();
}

// Sends the order, if the rollout is still in the state that the person has seen. Returns a
// sentence about the outcome. Status 412 means that the record has changed or that the order was
// refused: if the record still has the same ETag at the next try, the order was refused.
async function give(name, order, seen) {
  const path = '/v1/config/rollout/' + name;
  let refused = {};
  for (let tries = 0; tries < triesMost; ++tries) {
    const found = await fetch(path, {signal: AbortSignal.timeout(patience)}).catch(() => null);
    if (!found) return 'Nothing was ordered: the controller does not answer.';
    if (!found.ok) return `${name} cannot be read: ${(await found.json()).reason}`;
    const now = await found.json();
    const standing = now.order || 'none';
    if (now.state !== seen.state || standing !== seen.order) {
      return `Nothing was ordered: ${name} has changed meanwhile, and is ${now.state} now` +
        (standing === 'none' ? '.' : `, with the order ${standing}.`);
    }
    const tag = found.headers.get('ETag');
    if (tag === refused.tag) return `Nothing was ordered: ${refused.reason}.`;
    const answer = await fetch(path, {method: 'PATCH', headers: {'If-Match': tag,
      'Content-Type': 'application/merge-patch+json'}, signal: AbortSignal.timeout(patience),
    body: JSON.stringify({order: orders[order].order})}).catch(() => null);
    if (!answer) {
      return `No answer came to the order to ${order} ${name}, so it may have been given or not. ` +
        'Look at the rollout before you order again.';
    }
    if (answer.ok) return `Ordered: ${order} ${name}, as ${cell.you.name}.`;
    refused = {tag, reason: (await answer.json()).reason};
    if (answer.status !== 412) return `${name}: ${refused.reason}`;
  }
  return `Nothing was ordered: ${name} was written all the time. Try again.`;
}
