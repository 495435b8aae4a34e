// The events of all plugins: what they are called, what is described of them, and who wants them.
import type { Contributed, PluginContext } from '../../../kernel/index.js';
import { type NotifiedEvent, NotifiedEvents, type Occurrence, SEVERITIES } from '../contract.js';
import { DEFAULT_EVENTS } from '../settings.js';

export type DeclaredEvent = NotifiedEvent<never>;
/** A hook that has thousands of occurrences in one payload is described, but not a hook that never ends. */
const MOST_OCCURRENCES = 100_000;
/** JSON of the data of one notification. */
const LONGEST_DATA = 16_384;
/** Items of its lists that are tried, one after another, until it fits. */
const SHORTER_LISTS = [50, 20, 5, 1, 0];
const LONGEST_KEPT = 500;

export class DeclaredEvents {
  readonly #contributions: PluginContext['contributions'];
  #entries: readonly Contributed<DeclaredEvent>[] | undefined;

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  get entries(): readonly Contributed<DeclaredEvent>[] {
    return (this.#entries ??= this.#contributions(NotifiedEvents));
  }

  /** Whether a list of events means this one. An event that is part of a wider one is not meant beside that. */
  isIn(names: readonly string[], event: DeclaredEvent): boolean {
    if (!isNamed(names, event)) return false;
    const wider = this.entries.find(({ value }) => value.name === event.partOf)?.value;
    return !wider || !isNamed(names, wider);
  }

  /** Names and aliases that mean nothing. */
  unknown(names: readonly string[]): string[] {
    const known = new Set([
      DEFAULT_EVENTS,
      ...this.entries.flatMap(({ value: { name, aliases = [] } }) => [name, ...aliases]),
    ]);
    return names.filter((name) => !known.has(name));
  }

  /** Calls `describe`, which is not trusted. */
  describe({ value: event, fault }: Contributed<DeclaredEvent>, payload: unknown): readonly Occurrence[] {
    try {
      const described: unknown = event.describe(payload as never);
      if (!Array.isArray(described)) {
        if (described instanceof Promise) described.catch(() => undefined);
        throw new Error('describe must return a list');
      }
      if (described.length > MOST_OCCURRENCES)
        throw new Error(
          `describe returned ${described.length} occurrences; at most ${MOST_OCCURRENCES} are allowed`,
        );
      const fit = (described as Occurrence[]).filter(isOccurrence);
      // Once: a log line for each of thousands would stall the panel.
      if (fit.length < described.length)
        fault(
          `describe of the event ${event.name}`,
          new Error(
            `${described.length - fit.length} of ${described.length} occurrences are left out; one needs args and data, and may have severity, quietKey and client`,
          ),
        );
      return fit;
    } catch (error) {
      fault(`describe of the event ${event.name}`, error);
      return [];
    }
  }
}

function isNamed(names: readonly string[], { name, aliases = [], isOnByDefault }: DeclaredEvent): boolean {
  return (
    names.includes(name) ||
    (isOnByDefault && names.includes(DEFAULT_EVENTS)) ||
    aliases.some((alias) => names.includes(alias))
  );
}

function isOccurrence(occurrence: Occurrence | null | undefined): boolean {
  const { args, data, severity, quietKey, client } = occurrence ?? ({} as Partial<Occurrence>);
  return (
    isObject(args) &&
    isObject(data) &&
    (severity === undefined || SEVERITIES.includes(severity)) &&
    (quietKey === undefined || typeof quietKey === 'string') &&
    (client === undefined ||
      (Number.isSafeInteger(client.id) &&
        typeof client.email === 'string' &&
        Number.isSafeInteger(client.messengerId)))
  );
}
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the data as it goes through JSON; long lists are shortened where it is too large, and `isShortened` says so. */
export function boundedData(data: object): Readonly<Record<string, unknown>> {
  let json = jsonOf(data);
  if (json.length <= LONGEST_DATA) return parsed(json);
  for (const most of SHORTER_LISTS) {
    json = jsonOf(shortened(data, most));
    if (json.length <= LONGEST_DATA) return parsed(json);
  }
  return { isShortened: true };
}
/** With no item left, long texts and nested objects go as well: what remains of a summary are its count and times. */
function shortened(data: object, most: number): object {
  const entries = Object.entries(data).flatMap(([key, value]: [string, unknown]) => {
    if (Array.isArray(value)) return [[key, value.slice(0, most)]];
    const isLong = typeof value === 'string' ? value.length > LONGEST_KEPT : isObject(value);
    return most === 0 && isLong ? [] : [[key, value]];
  });
  return { ...Object.fromEntries(entries), isShortened: true };
}

/** Frozen, because all channels get the same. */
const parsed = (json: string): Readonly<Record<string, unknown>> =>
  JSON.parse(json, (_, value: unknown) =>
    typeof value === 'object' && value !== null ? Object.freeze(value) : value,
  ) as Record<string, unknown>;

/** Data of a plugin may hold what JSON has not. */
function jsonOf(data: object): string {
  try {
    return JSON.stringify(data) ?? '{}';
  } catch {
    return '{"isShortened":true}';
  }
}
