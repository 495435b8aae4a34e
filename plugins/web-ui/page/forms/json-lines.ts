// In which line of a JSON text a value is, for problems that name its place.

const BLANK = /[\s]*/y;
const PLAIN = /[^\s,\]}"]+/y;

class Scanner {
  #at = 0;
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }
  /** By hand: a pattern needs a stack as long as the text. Goes to the end of a text that is not closed. */
  #string(): string {
    const start = this.#at;
    if (this.#text[start] !== '"') return '';
    for (this.#at++; this.#at < this.#text.length && this.#text[this.#at] !== '"'; this.#at++)
      if (this.#text[this.#at] === '\\') this.#at++;
    this.#at = Math.min(this.#at + 1, this.#text.length);
    return this.#text.slice(start, this.#at);
  }
  #next(): string {
    this.#take(BLANK);
    return this.#text[this.#at] ?? '';
  }

  #skip(): void {
    let depth = 0;
    do {
      const next = this.#next();
      if (next === '') return;
      if (next === '"') this.#string();
      else if ('[{'.includes(next)) {
        depth++;
        this.#at++;
      } else if (']}'.includes(next)) {
        depth--;
        this.#at++;
      } else if (',:'.includes(next)) this.#at++;
      else this.#take(PLAIN);
    } while (depth > 0);
  }

  /** Offset of the value at a dotted path; of the deepest one on the way that is there. */
  find(path: string): number {
    const open = this.#next();
    const start = this.#at;
    if (path === '' || !'[{'.includes(open) || open === '') return start;
    this.#at++;
    for (let index = 0; ; index++) {
      const next = this.#next();
      if (next === '' || ']}'.includes(next)) return start;
      if (next === ',') {
        this.#at++;
        index--;
        continue;
      }
      let key = String(index);
      if (open === '{') {
        key = keyOf(this.#string());
        if (this.#next() !== ':') return start;
        this.#at++;
      }
      if (path === key) return this.find('');
      if (path.startsWith(`${key}.`)) return this.find(path.slice(key.length + 1));
      const before = this.#at;
      this.#skip();
      if (this.#at === before) return start;
    }
  }
}

function keyOf(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/** From 1 on. `path` is dotted, such as `settings.servers.0.port`; blank for the whole. */
export function lineOf(text: string, path: string): number {
  return text.slice(0, new Scanner(text).find(path)).split('\n').length;
}
