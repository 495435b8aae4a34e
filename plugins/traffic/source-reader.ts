// Asks the sources of counters: each for itself, with a time limit, and checks what they answer.
import type { Contributed, Log, PluginContext } from '../../kernel/index.js';
import { messageOf, TimeSlice } from '../../kernel/index.js';
import { type CounterReading, type CounterSource, CounterSources } from './counter-sources.js';

const ANSWER_MS = 6_000;
const MOST_READINGS = 10_000;
const MOST_USERS = 1_000_000;
const LONGEST_STREAM = 64;
const LONGEST_EPOCH = 128;

/** A reading of a source; `stream` has the name of the source in front. */
export type SourceReading = CounterReading;

export class SourceReader {
  readonly #contributions: PluginContext['contributions'];
  readonly #log: Log;
  /** sources that did not answer the last poll: each is logged once */
  readonly #silent = new Set<string>();

  constructor({ contributions, log }: Pick<PluginContext, 'contributions' | 'log'>) {
    this.#contributions = contributions;
    this.#log = log;
  }

  /** Resolves with what the sources answered in time; never rejects. */
  async read(): Promise<SourceReading[]> {
    const answers = await Promise.all(this.#contributions(CounterSources).map((source) => this.#ask(source)));
    return answers.flat();
  }

  /** Checks readings that a source brings by itself. */
  checked(name: string, readings: readonly CounterReading[]): Promise<SourceReading[]> {
    return checked(name, readings);
  }

  async #ask(entry: Contributed<CounterSource>): Promise<SourceReading[]> {
    const { value: source, plugin, fault } = entry;
    let readings: readonly CounterReading[];
    try {
      readings = await inTime(source.read());
      this.#silent.delete(source.name);
    } catch (error) {
      if (!this.#silent.has(source.name))
        this.#log.warn('a source of counters does not answer the poll; its counters keep running', {
          plugin,
          source: source.name,
          reason: messageOf(error),
        });
      this.#silent.add(source.name);
      return [];
    }
    try {
      return await checked(source.name, readings);
    } catch (error) {
      fault('a reading of counters', error);
      return [];
    }
  }
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const isBytes = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** Rejects with what is wrong: a source is a plugin, and must answer as declared. */
async function checked(name: string, readings: readonly CounterReading[]): Promise<SourceReading[]> {
  if (!Array.isArray(readings) || readings.length > MOST_READINGS)
    throw new Error(`the source ${name} must answer a list of at most ${MOST_READINGS} readings`);
  const slice = new TimeSlice();
  const found: SourceReading[] = [];
  for (const { stream, epoch, users, isComplete = false, neverFalls = false, most = Infinity } of readings) {
    const of = `a reading of the source ${name}`;
    if (typeof stream !== 'string' || stream === '' || stream.length > LONGEST_STREAM)
      throw new Error(`stream in ${of} must have 1 to ${LONGEST_STREAM} characters`);
    if (typeof epoch !== 'string' || epoch === '' || epoch.length > LONGEST_EPOCH)
      throw new Error(`epoch in ${of} must have 1 to ${LONGEST_EPOCH} characters`);
    if (!Array.isArray(users) || users.length > MOST_USERS)
      throw new Error(`users in ${of} must be a list of at most ${MOST_USERS}`);
    if (typeof most !== 'number' || !(most >= 0)) throw new Error(`most in ${of} must be a number of bytes`);
    for (const { clientId, inboundId, up, down } of users) {
      if (slice.isOver) await slice.next();
      if (!isId(clientId) || !isId(inboundId) || !isBytes(up) || !isBytes(down))
        throw new Error(
          `${of} has ${up} and ${down} bytes of client ${clientId} on inbound ${inboundId}: ids and whole numbers, not below 0`,
        );
    }
    found.push({ stream: `${name}/${stream}`, epoch, users, isComplete, neverFalls, most });
  }
  return found;
}
