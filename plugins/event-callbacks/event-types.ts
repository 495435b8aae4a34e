// Types of events, and the patterns by which endpoints choose them.
import type { PluginContext } from '../../kernel/index.js';
import { CallbackSources } from './contract.js';
import { errors } from './errors.js';

export interface EventType {
  readonly type: string;
  readonly doc: string;
}
/** `*`, `client.*` or `client.created` */
export const fitsPattern = (pattern: string, type: string): boolean =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)));

export class EventTypes {
  readonly #contributions: PluginContext['contributions'];

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  list(): EventType[] {
    return this.#contributions(CallbackSources)
      .flatMap(({ value: { types } }) => Object.entries(types).map(([type, doc]) => ({ type, doc })))
      .sort((a, b) => (a.type < b.type ? -1 : 1));
  }

  /** Throws EVENT for a pattern that fits nothing. */
  check(patterns: readonly string[]): void {
    const types = this.list();
    const wrong = patterns.findIndex((pattern) => !types.some(({ type }) => fitsPattern(pattern, type)));
    if (wrong !== -1)
      throw errors.EVENT(
        `there is no type of event ${JSON.stringify(patterns[wrong])}; GET /panel/api/x/event-callbacks/events lists all`,
        { path: `events[${wrong}]` },
      );
  }

  /** The types that these patterns choose, for SQL; undefined for all. */
  chosen(patterns: readonly string[]): string[] | undefined {
    if (patterns.includes('*')) return undefined;
    return this.list()
      .map(({ type }) => type)
      .filter((type) => patterns.some((pattern) => fitsPattern(pattern, type)));
  }
}
