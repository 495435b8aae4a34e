// One attempt to get a process that serves: adopts that of a previous panel, or starts a new one.
import { chmod, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../kernel/index.js';
import type { ProcessOwner, ProcessSlot, RunningProcess } from './contract.js';
import { lastLines, readTail, sizeOf } from './log-file.js';
import { isInside, type Plan } from './options.js';

const ASK_EVERY_MS = 50;
const ADOPTION_LIMIT_MS = 5_000;

/** The note in the record of a managed process. */
export interface ManagedNote {
  /** digest of its options */
  readonly digest: string;
  /** bytes of the log that belong to earlier processes */
  readonly logFrom?: number;
  /** it has been ready */
  readonly ready?: boolean;
}
export const isManagedNote = (value: object): value is ManagedNote =>
  typeof (value as Partial<ManagedNote>).digest === 'string';

export interface Place {
  /** real path of the panel's data folder */
  readonly data: string;
  readonly folder: string;
  readonly slot: ProcessSlot<ManagedNote>;
  readonly log: ProcessOwner['log'];
}
export interface Live {
  readonly process: RunningProcess<ManagedNote>;
  readonly adopted: boolean;
  /** bytes of the log that belong to earlier processes */
  readonly logFrom: number;
}

/** Returns the last lines of output; empty if the file cannot be read. */
const wordsOf = async (folder: string, from: number): Promise<string[]> =>
  lastLines(await readTail(logOf(folder), from).catch(() => ''));

export const logOf = (folder: string): string => join(folder, 'output.log');

/** A start that failed; `message` is for a person. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed';
  readonly lastLines: readonly string[];

  constructor(message: string, lines: readonly string[] = [], options?: ErrorOptions) {
    super(message, options);
    this.lastLines = lines;
  }
}

/** The start of a line that names a problem, for programs in many languages: `TypeError: …`, `panic: …`, `fatal: …`. */
const PROBLEM = /^(?:\w*(?:Error|Exception)\b|panic:|fatal\b)/i;

/** Returns an error with the last output of a process and how it exited. */
export async function endOf(how: string, { folder }: Place, logFrom: number): Promise<StartFailed> {
  const lines = await wordsOf(folder, logFrom);
  // Some programs write a stack or a version after the reason.
  const words = lines.findLast((line) => PROBLEM.test(line)) ?? lines.at(-1);
  return new StartFailed(
    `the process ended by itself (${how})${words === undefined ? '' : `: ${words}`}`,
    lines,
  );
}

/** Resolves when the probe succeeds; rejects when the time is over, the process exits, or `signal` aborts. */
async function untilReady(
  plan: Plan,
  place: Place,
  live: Live,
  limit: number,
  signal: AbortSignal,
): Promise<void> {
  const { ready } = plan;
  if (ready === undefined) return;
  const over = new AbortController();
  const deadline = setTimeout(() => over.abort(), limit);
  const stop = AbortSignal.any([over.signal, signal]);
  let ended: string | undefined;
  void live.process.ended.then((how) => {
    ended = how;
    over.abort();
  });
  const aborted = new Promise<undefined>((resolve) => {
    if (stop.aborted) resolve(undefined);
    else stop.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const probed = {
    pid: live.process.identity.pid,
    folder: place.folder,
    log: logOf(place.folder),
    logFrom: live.logFrom,
    adopted: live.adopted && live.process.note.ready === true,
    signal: stop,
  };
  let problem = '';
  try {
    while (!stop.aborted) {
      // A probe that hangs does not extend the time.
      const asked = (async () => ready(probed))().catch(
        (error: unknown) => void (problem = messageOf(error)),
      );
      if ((await Promise.race([asked, aborted])) === true) return;
      await sleep(ASK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  } finally {
    clearTimeout(deadline);
    over.abort();
  }
  if (ended !== undefined) throw await endOf(ended, place, live.logFrom);
  if (signal.aborted) throw new StartFailed('it was stopped before it was ready');
  throw new StartFailed(
    `the process was not ready within ${limit / 1000} s${problem && `: ${problem}`}`,
    await wordsOf(place.folder, live.logFrom),
  );
}

/** Creates missing private folders. Their real paths must be in the data folder too. */
async function prepareFolders({ cwd }: Plan, { data, folder }: Place): Promise<void> {
  await prepareFolder(folder, 'folder', data);
  await chmod(folder, 0o700);
  await prepareFolder(cwd, 'working folder', data);
}

async function prepareFolder(path: string, what: string, data: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (!isInside(await realpath(path), data))
    throw new StartFailed(`its ${what} ${path} leads out of the data folder by a symbolic link`);
}

/** Stops an unwanted process of a previous panel, and removes its record. */
export async function endLeft({ slot }: Place, signal?: NodeJS.Signals, grace?: number): Promise<void> {
  const left = await slot.adopt();
  await left?.stop(signal, grace);
  await slot.endStrays();
  await slot.forget();
}

/** If the disk is full, the next panel probes it again; the process keeps running. */
async function noteReady({ process }: Live): Promise<void> {
  if (process.note.ready !== true)
    await process.remember({ ...process.note, ready: true }).catch(() => undefined);
}

async function adopt(plan: Plan, place: Place, signal: AbortSignal): Promise<Live | undefined> {
  const { slot, log } = place;
  const process = await slot.adopt();
  if (process === undefined) return undefined;
  const { ready = false, logFrom = 0, digest } = process.note;
  const live: Live = { process, adopted: true, logFrom };
  const { pid } = process.identity;
  try {
    if (!plan.adopt) throw new StartFailed('its options forbid to adopt it');
    if (digest !== plan.digest) throw new StartFailed('it was started with other options');
    const limit = ready ? Math.min(plan.readyWithin, ADOPTION_LIMIT_MS) : plan.readyWithin;
    await untilReady(plan, place, live, limit, signal);
    await noteReady(live);
    log.info('process adopted', { process: plan.name, pid });
    return live;
  } catch (error) {
    log.info('stopping the process of a previous panel', {
      process: plan.name,
      pid,
      reason: messageOf(error),
    });
    await process.stop(plan.stopSignal, plan.stopGrace);
    return undefined;
  }
}

/** Resolves with a process that is ready. Rejects with a message, and then leaves no process. */
export async function startOnce(plan: Plan, place: Place, signal: AbortSignal): Promise<Live> {
  const { slot, folder, log } = place;
  await prepareFolders(plan, place);
  const adopted = await adopt(plan, place, signal);
  if (adopted !== undefined) return adopted;
  if (signal.aborted) throw new StartFailed('it was stopped before it was started');
  await slot.endStrays();
  const { command, args, env, cwd, digest, name } = plan;
  const output = logOf(folder);
  const logFrom = await sizeOf(output);
  const process = await slot.start({ command, args, env, cwd, output }, { digest, logFrom });
  const live: Live = { process, adopted: false, logFrom };
  try {
    await untilReady(plan, place, live, plan.readyWithin, signal);
    await noteReady(live);
  } catch (error) {
    await process.stop(plan.stopSignal, plan.stopGrace);
    await slot.endStrays();
    await slot.forget();
    throw error;
  }
  log.info('process started', { process: name, pid: process.identity.pid });
  return live;
}
