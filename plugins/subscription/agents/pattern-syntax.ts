// Parses the patterns for user agents.

export type Node =
  | { readonly kind: 'char'; readonly fits: (code: number) => boolean }
  | { readonly kind: 'edge'; readonly edge: 'start' | 'end' | 'word' | 'inside' }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly least: number; readonly most: number };

type Fits = (code: number) => boolean;

const MOST_REPEATS = 100;
const MOST_DEPTH = 50;
const within =
  (from: number, to: number): Fits =>
  (code) =>
    code >= from && code <= to;
const anyOf =
  (sets: readonly Fits[]): Fits =>
  (code) =>
    sets.some((fits) => fits(code));
const not =
  (fits: Fits): Fits =>
  (code) =>
    !fits(code);
const DIGIT = within(48, 57);
const WORD = anyOf([DIGIT, within(65, 90), within(97, 122), within(95, 95)]);
const SPACE = anyOf([within(9, 10), within(12, 13), within(32, 32)]);
const CLASSES: Readonly<Record<string, Fits>> = {
  d: DIGIT,
  D: not(DIGIT),
  w: WORD,
  W: not(WORD),
  s: SPACE,
  S: not(SPACE),
};
const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f', v: '\v' };
const EDGES = { A: 'start', z: 'end', b: 'word', B: 'inside' } as const;

/** Texts are ASCII nearly always: the cases of other letters follow JavaScript. */
const otherCase = (code: number): number => {
  const char = String.fromCharCode(code);
  const other = char.toLowerCase() === char ? char.toUpperCase() : char.toLowerCase();
  return other.length === 1 ? other.charCodeAt(0) : code;
};

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  whole(): Node {
    const node = this.#choice({ ignoreCase: false });
    if (this.#at < this.#source.length) this.#fail('it closes a group that is not open: )');
    return node;
  }

  #fail(problem: string): never {
    throw new Error(`${problem}, at character ${this.#at + 1}`);
  }
  get #next(): string {
    return this.#source[this.#at] ?? '';
  }
  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #choice(flags: { ignoreCase: boolean }): Node {
    if (++this.#depth > MOST_DEPTH) this.#fail('its groups are too deep');
    const parts: Node[] = [];
    // `(?i)` holds until its group ends.
    const own = { ...flags };
    do parts.push(this.#sequence(own));
    while (this.#take('|'));
    this.#depth--;
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'any', parts };
  }

  #sequence(flags: { ignoreCase: boolean }): Node {
    const parts: Node[] = [];
    while (this.#next !== '' && this.#next !== '|' && this.#next !== ')') {
      const [, set] = /^\(\?(-?)i\)/.exec(this.#source.slice(this.#at, this.#at + 5)) ?? [];
      if (set !== undefined) {
        this.#at += 4 + set.length;
        flags.ignoreCase = set === '';
      } else parts.push(this.#repeated(flags));
    }
    return { kind: 'all', parts };
  }

  #repeated(flags: { ignoreCase: boolean }): Node {
    const part = this.#single(flags);
    const bounds = this.#bounds();
    if (!bounds) return part;
    // Lazy or not, the same texts match.
    this.#take('?');
    if (/^[*+?]/.test(this.#next)) this.#fail('two repetitions follow each other');
    return { kind: 'repeat', part, ...bounds };
  }

  #bounds(): { least: number; most: number } | undefined {
    if (this.#take('*')) return { least: 0, most: Infinity };
    if (this.#take('+')) return { least: 1, most: Infinity };
    if (this.#take('?')) return { least: 0, most: 1 };
    const found = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/.exec(this.#source.slice(this.#at, this.#at + 12));
    if (!found) return undefined;
    const [text, first, comma, second] = found;
    const least = Number(first);
    const most = second === undefined ? (comma ? Infinity : least) : Number(second);
    if (most < least || Math.max(least, most === Infinity ? 0 : most) > MOST_REPEATS)
      this.#fail(`a repetition goes up to ${MOST_REPEATS}, and its first number is not the larger one`);
    this.#at += text.length;
    return { least, most };
  }

  #single(flags: { ignoreCase: boolean }): Node {
    const char = this.#next;
    if (char === '(') return this.#group(flags);
    if ('*+?'.includes(char)) this.#fail(`there is nothing to repeat before ${char}`);
    this.#at++;
    if (char === '^') return { kind: 'edge', edge: 'start' };
    if (char === '$') return { kind: 'edge', edge: 'end' };
    if (char === '.') return { kind: 'char', fits: not(within(10, 10)) };
    if (char === '[') return { kind: 'char', fits: this.#set(flags) };
    if (char !== '\\') return { kind: 'char', fits: one(char, flags) };
    const letter = this.#next;
    if (letter in EDGES) {
      this.#at++;
      return { kind: 'edge', edge: EDGES[letter as keyof typeof EDGES] };
    }
    const escaped = this.#escaped();
    return { kind: 'char', fits: typeof escaped === 'string' ? one(escaped, flags) : escaped };
  }

  #group(flags: { ignoreCase: boolean }): Node {
    this.#at++;
    let inner = flags;
    if (this.#take('?')) {
      if (this.#take('i:')) inner = { ignoreCase: true };
      else if (/^P?<[A-Za-z]/.test(this.#source.slice(this.#at))) {
        const end = this.#source.indexOf('>', this.#at);
        if (end < 0) this.#fail('the name of a group has no end');
        this.#at = end + 1;
      } else if (!this.#take(':'))
        this.#fail(
          'it has a lookaround or a flag; only (?i), (?i:…), (?:…) and names of groups are possible',
        );
    }
    const node = this.#choice(inner);
    if (!this.#take(')')) this.#fail('a group has no end: )');
    return node;
  }

  /** After the backslash: a set, or the character that is meant. */
  #escaped(): Fits | string {
    const letter = this.#next;
    if (letter === '') this.#fail('it ends with a backslash');
    this.#at++;
    const known = CLASSES[letter];
    if (known) return known;
    const hex = /^x([\da-f]{2})/i.exec(this.#source.slice(this.#at - 1, this.#at + 2))?.[1];
    if (hex !== undefined) {
      this.#at += 2;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const control = CONTROLS[letter];
    if (control !== undefined) return control;
    if (/[\dA-Za-z]/.test(letter)) this.#fail(`\\${letter} is not possible here`);
    return letter;
  }

  /** After the opening bracket. */
  #set(flags: { ignoreCase: boolean }): Fits {
    const isNot = this.#take('^');
    const sets: Fits[] = [];
    for (let isFirst = true; isFirst || this.#next !== ']'; isFirst = false) {
      if (this.#next === '') this.#fail('a set has no end: ]');
      const from = this.#member();
      if (typeof from !== 'string') {
        sets.push(from);
        continue;
      }
      const isRange = this.#next === '-' && !/^-(?:\]|$)/.test(this.#source.slice(this.#at, this.#at + 2));
      if (!isRange) {
        sets.push(one(from, flags));
        continue;
      }
      this.#at++;
      const to = this.#member();
      if (typeof to !== 'string' || to < from) this.#fail('a range of a set is not one');
      const range = within(from.charCodeAt(0), to.charCodeAt(0));
      sets.push(flags.ignoreCase ? (code) => range(code) || range(otherCase(code)) : range);
    }
    this.#at++;
    const fits = anyOf(sets);
    return isNot ? not(fits) : fits;
  }

  #member(): Fits | string {
    const char = this.#next;
    this.#at++;
    return char === '\\' ? this.#escaped() : char;
  }
}

function one(char: string, { ignoreCase }: { readonly ignoreCase: boolean }): Fits {
  const code = char.charCodeAt(0);
  const other = ignoreCase ? otherCase(code) : code;
  return other === code ? (given) => given === code : (given) => given === code || given === other;
}

/** Throws with what is wrong and where. */
export const parsePattern = (source: string): Node => new Parser(source).whole();
