// Reads one line of JSON strictly. JSON.parse accepts an object in which a name occurs twice, and
// does not distinguish 1.0 from 1. agent-protocol(7) forbids both in the members of a message. So
// each number is kept as it is written, in a `Spelt`.

const nestingMax = 32;

export class Spelt {
  constructor(text) {
    this.text = text;
  }
}

// The members of an object, and the names that occurred more than once.
export class Members extends Map {
  twice = new Set();
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) throw new SyntaxError(`no JSON at ${this.at}`);
    this.at = pattern.lastIndex;
    return found[0];
  }

  skipSpace() {
    this.take(/[ \t\n\r]*/y);
  }

  // Returns true if the next character is `character`, and skips it. Otherwise returns false.
  takes(character) {
    this.skipSpace();
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    this.skipSpace();
    return true;
  }

  string() {
    // eslint-disable-next-line no-control-regex
    return JSON.parse(this.take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y));
  }

  value(depth) {
    const opening = /[[{]/.test(this.text[this.at] ?? '');
    if (opening && depth > nestingMax) throw new SyntaxError('nested too deep');
    if (this.takes('{')) return this.members(depth);
    if (this.takes('[')) return this.elements(depth);
    if (this.text[this.at] === '"') return this.string();
    const word = this.take(/true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y);
    const words = { true: true, false: false, null: null };
    return word in words ? words[word] : new Spelt(word);
  }

  members(depth) {
    const all = new Members();
    if (this.takes('}')) return all;
    do {
      const name = this.string();
      if (!this.takes(':')) throw new SyntaxError(`no colon at ${this.at}`);
      if (all.has(name)) all.twice.add(name);
      all.set(name, this.value(depth + 1));
    } while (this.takes(','));
    if (!this.takes('}')) throw new SyntaxError(`no brace at ${this.at}`);
    return all;
  }

  elements(depth) {
    const all = [];
    if (this.takes(']')) return all;
    do {
      all.push(this.value(depth + 1));
    } while (this.takes(','));
    if (!this.takes(']')) throw new SyntaxError(`no bracket at ${this.at}`);
    return all;
  }
}

// Returns the members of the object in `text`; throws if the text is not an object.
export function parseLine(text) {
  const reader = new Reader(text);
  const value = reader.value(1);
  reader.skipSpace();
  if (reader.at !== text.length || !(value instanceof Members)) throw new SyntaxError('no object');
  return value;
}
