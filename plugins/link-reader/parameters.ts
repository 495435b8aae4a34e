// Parameters of a link: by name, the first of several with the same name.
import { LinkError } from './link-error.js';
import { unescaped } from './text.js';

const MOST = 200;

export class Parameters {
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  /** Reads a query without its `?`. */
  static in(query: string): Parameters {
    const values = new Map<string, string>();
    // Links that were copied out of a web page have `&amp;`.
    const pairs = query.split('&', MOST + 1);
    if (pairs.length > MOST) throw new LinkError('link', `it has more than ${MOST} parameters`);
    for (const pair of pairs) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = (equals < 0 ? pair : pair.slice(0, equals)).replace(/^amp;/, '');
      const value = equals < 0 ? '' : pair.slice(equals + 1);
      const key = /^[\w.-]{1,64}$/.test(name) ? name : unescaped(name, 'link');
      if (!values.has(key)) values.set(key, unescaped(value.replaceAll('+', ' '), key));
    }
    return new Parameters(values);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The first of these names that has a value; empty when none has. */
  get(...names: readonly string[]): string {
    for (const name of names) {
      const value = this.#values.get(name);
      if (value) return value;
    }
    return '';
  }

  /** Base64 has no spaces: one was a `+` that nobody escaped. */
  base64(...names: readonly string[]): string {
    return this.get(...names).replaceAll(' ', '+');
  }
}
