// The fields of an entry in a document of another program. A field that nobody asked for is an error: it may change how to
// connect.
import { ListProblem } from './list-problem.js';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === '~';
/** A value that asks for nothing. */
const isOff = (value: unknown): boolean =>
  isNothing(value) || value === false || value === 'false' || value === 0;

export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #read = new Set<string>();
  readonly #below: Fields[] = [];

  constructor(values: unknown, path = '') {
    if (!isObject(values)) throw new ListProblem(`${path || 'the entry'} must be an object`);
    this.#values = values;
    this.#path = path;
  }

  fault(key: string, problem: string): ListProblem {
    return new ListProblem(`${this.#path}${key}: ${problem}`);
  }

  #take(key: string): unknown {
    this.#read.add(key);
    const value = Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
    return isNothing(value) ? undefined : value;
  }

  has(key: string): boolean {
    return this.#take(key) !== undefined;
  }

  text(key: string): string {
    const value = this.#take(key);
    if (value === undefined) return '';
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    throw this.fault(key, 'it must be a text');
  }

  /** A text that must be there. */
  required(key: string): string {
    const value = this.text(key);
    if (value === '') throw this.fault(key, 'it is missing');
    return value;
  }

  number(key: string): number | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
    throw this.fault(key, 'it must be a whole number');
  }

  port(key: string): number {
    const port = this.number(key) ?? 0;
    if (port < 1 || port > 65_535) throw this.fault(key, 'it must be a port');
    return port;
  }

  flag(key: string): boolean {
    const value = this.#take(key);
    if (value === undefined || value === false || value === 'false') return false;
    if (value === true || value === 'true') return true;
    throw this.fault(key, 'it must be true or false');
  }

  /** One text, or a list of them. */
  texts(key: string): string[] {
    const value = this.#take(key);
    const list = value === undefined ? [] : Array.isArray(value) ? (value as unknown[]) : [value];
    return list.map((one) => {
      if (typeof one === 'string') return one;
      if (typeof one === 'number') return String(one);
      throw this.fault(key, 'it must be a list of texts');
    });
  }

  /** Texts by name, or lists of them. */
  headers(key: string): Record<string, string[]> {
    const value = this.#take(key);
    if (value === undefined) return {};
    if (!isObject(value)) throw this.fault(key, 'it must be an object');
    const inside = new Fields(value, `${this.#path}${key}.`);
    return Object.fromEntries(Object.keys(value).map((name) => [name, inside.texts(name)]));
  }

  /** The fields of an object inside; undefined where there is none. */
  inside(key: string): Fields | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    const fields = new Fields(value, `${this.#path}${key}.`);
    this.#below.push(fields);
    return fields;
  }

  /** Objects of a list. */
  each(key: string): Fields[] {
    const value = this.#take(key);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.fault(key, 'it must be a list');
    const list = value.map((one, at) => new Fields(one, `${this.#path}${key}.${at}.`));
    this.#below.push(...list);
    return list;
  }

  /** They change nothing of how the core connects. */
  ignore(...keys: readonly string[]): void {
    for (const key of keys) this.#read.add(key);
  }

  /** Throws for a field that was not read and says something. */
  end(): void {
    for (const [key, value] of Object.entries(this.#values))
      if (!this.#read.has(key) && !isOff(value))
        throw this.fault(key.slice(0, 64), 'this cannot be expressed in an outbound of the core');
    for (const fields of this.#below) fields.end();
  }
}
