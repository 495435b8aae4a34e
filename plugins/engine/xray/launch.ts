// From a config to a core that answers, and from a record to a core that runs already.
import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoreRefused, CoreUnreachable, type CoreBase, type CoreRecord } from '../driver.js';
import { CannotRun, readTail, sizeOf } from '../../processes/contract.js';
import type { AccountCodecs } from './accounts.js';
import type { CoreApi } from './api.js';
import { API_TAG, configText, type InboundWithUsers } from './config.js';
import { coreEnvironment } from './environment.js';
import { lastWords } from './failures.js';
import type { DriverLog, EngineFolder } from './folder.js';
import { RunningInbounds } from './inbounds.js';
import { decode } from './messages.js';
import type { CoreInstance, CoreSlot } from './record.js';
import { eachRecord } from './slices.js';

/** 100,000 users on five inbounds take 6 s on a small machine. */
const START_LIMIT_MS = 120_000;
const ADOPTION_LIMIT_MS = 3000;
const LOOK_EVERY_MS = 10;
const STARTED_LINE_LIMIT_MS = 2000;

export interface RunningCore {
  readonly instance: CoreInstance;
  readonly api: CoreApi;
  readonly inbounds: RunningInbounds;
}

export interface LaunchContext {
  readonly binary: string;
  readonly folder: EngineFolder;
  /** where its process runs */
  readonly slot: CoreSlot;
  readonly log: DriverLog;
  readonly codecs: AccountCodecs;
}

/** What the core said when it ended; `how` when it said nothing. */
export async function reasonOfEnd(folder: EngineFolder, how: string): Promise<string> {
  return (
    lastWords(await readTail(folder.output)) ?? `the core ended without a word (${how}); see ${folder.error}`
  );
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** gRPC is loaded when a core runs: without one, a start and a command of the command line do without it. */
async function apiAt(socket: string): Promise<CoreApi> {
  const { CoreApi } = await import('./api.js');
  return new CoreApi(socket);
}

async function ready(
  instance: CoreInstance,
  api: CoreApi,
  socket: string,
  started: () => Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (instance.alive && Date.now() < deadline && !(await isThere(socket))) await sleep(LOOK_EVERY_MS);
  if (!instance.alive) return;
  await api.answers(Math.max(deadline - Date.now(), 1));
  // an inbound that cannot listen ends the core just after it has let our call in; the line says that all of them do
  const patience = Date.now() + STARTED_LINE_LIMIT_MS;
  while (instance.alive && Date.now() < patience && !(await started())) await sleep(LOOK_EVERY_MS);
}

/** Frees the place for a new core: a stale socket would keep it from starting, a living core would share its ports with it. */
async function makeRoom({ folder, slot }: LaunchContext): Promise<void> {
  await folder.prepare();
  const former = await slot.recorded();
  if (former?.alive)
    throw new Error(`a core (pid ${former.pid}) runs in ${folder.path} already; adopt or stop it first`);
  if (former !== undefined) await folder.removeSocket(former.note.socket);
  // A panel that was killed between the start of a core and the note of it leaves one that nobody knows.
  if ((await slot.endStrays()) > 0) await folder.removeSocket(folder.usualSocket);
  if (await folder.socketAnswers())
    throw new Error(`another program listens on ${folder.usualSocket}; end it first`);
}

/** Rejects with CoreRefused when the core or a check before it refuses the config; no process is left then. */
export async function launch(
  context: LaunchContext,
  base: CoreBase,
  inbounds: readonly InboundWithUsers[],
  record: CoreRecord,
): Promise<RunningCore> {
  const { binary, folder, slot, codecs } = context;
  await makeRoom(context);
  const socket = await folder.socket();
  const api = await apiAt(socket);
  let instance: CoreInstance | undefined;
  try {
    await folder.write(
      folder.config,
      configText(base, inbounds, { socket, access: folder.access, error: folder.error }, codecs),
    );
    const logged = await sizeOf(folder.error);
    const started = async (): Promise<boolean> =>
      / core: Xray \S+ started/.test(await readTail(folder.error, logged));
    instance = await slot.start(
      {
        command: binary,
        args: ['run', '-c', folder.config],
        env: coreEnvironment(),
        cwd: folder.path,
        output: folder.output,
        emptied: true,
      },
      { socket, record },
    );
    await untilReady(instance, ready(instance, api, socket, started), folder);
    const running = new RunningInbounds();
    for (const { tag, protocol } of inbounds)
      running.set(tag, codecs.accounts.of(protocol)?.inboundType ?? protocol);
    return { instance, api, inbounds: running };
  } catch (error) {
    api.close();
    await instance?.kill();
    await folder.removeSocket(socket);
    await slot.forget();
    throw error instanceof CannotRun ? new CoreUnreachable(error.message, { cause: error }) : error;
  }
}

/** A core that ends while we wait also breaks our call; its own words tell more than the broken call. */
async function untilReady(
  instance: CoreInstance,
  waiting: Promise<void>,
  folder: EngineFolder,
): Promise<void> {
  const answer = waiting.catch((error: unknown) => {
    if (instance.alive) throw error;
  });
  await Promise.race([instance.ended, answer]);
  if (!instance.alive) throw new CoreRefused(await reasonOfEnd(folder, await instance.ended));
}

/** The types as the core itself has them: what the former panel wrote down may be older than its last change. */
async function inboundsOf(api: CoreApi): Promise<RunningInbounds> {
  const running = new RunningInbounds();
  await eachRecord(await api.listInbounds(), 1, (bytes) => {
    const { tag, proxySettings } = decode('xray.core.InboundHandlerConfig', bytes);
    if (tag !== '' && tag !== API_TAG) running.set(tag, proxySettings?.type ?? 'unknown');
  });
  return running;
}

export async function adopt({ folder, slot, log }: LaunchContext): Promise<RunningCore | undefined> {
  const instance = await slot.adopt();
  if (instance === undefined) {
    const former = await slot.recorded();
    if (former && !former.alive) await folder.removeSocket(former.note.socket);
    return undefined;
  }
  const { socket } = instance.note;
  const api = await apiAt(socket);
  try {
    await api.answers(ADOPTION_LIMIT_MS);
    return { instance, api, inbounds: await inboundsOf(api) };
  } catch (error) {
    if (!(error instanceof CoreUnreachable) && !(error instanceof CoreRefused)) throw error;
    log.warn('a core of a former panel runs but does not answer; it is ended', {
      pid: instance.identity.pid,
      reason: error.message,
    });
    api.close();
    await instance.kill();
    await folder.removeSocket(socket);
    await slot.forget();
    return undefined;
  }
}
