// Starts a core from a config, and adopts a running core from its record.
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

/** Returns the core's last message; `how` when there is none. */
export async function reasonOfEnd(folder: EngineFolder, how: string): Promise<string> {
  return (
    lastWords(await readTail(folder.output)) ??
    `the core exited without a message (${how}); see ${folder.error}`
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
  // the API answers before an inbound that cannot listen stops the core; this line says that all inbounds listen
  const patience = Date.now() + STARTED_LINE_LIMIT_MS;
  while (instance.alive && Date.now() < patience && !(await started())) await sleep(LOOK_EVERY_MS);
}

/** Prepares for a new core: with a stale socket it would not start, and it would share its ports with a running core. */
async function makeRoom({ folder, slot }: LaunchContext): Promise<void> {
  await folder.prepare();
  const previous = await slot.recorded();
  if (previous?.alive)
    throw new Error(`a core (pid ${previous.pid}) runs in ${folder.path} already; adopt or stop it first`);
  if (previous !== undefined) await folder.removeSocket(previous.note.socket);
  // A panel that was killed between the start of a core and its record leaves an unrecorded core.
  if ((await slot.endStrays()) > 0) await folder.removeSocket(folder.usualSocket);
  if (await folder.socketAnswers())
    throw new Error(`another program listens on ${folder.usualSocket}; stop it first`);
}

/** Rejects with CoreRefused when the core or a check before it rejects the config; no process is left then. */
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

/** A core that exits while we wait also breaks our call; its own message says more than the broken call. */
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

/** Reads the types from the core itself: the previous panel's record may be older than its last change. */
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
    const previous = await slot.recorded();
    if (previous && !previous.alive) await folder.removeSocket(previous.note.socket);
    return undefined;
  }
  const { socket } = instance.note;
  const api = await apiAt(socket);
  try {
    await api.answers(ADOPTION_LIMIT_MS);
    return { instance, api, inbounds: await inboundsOf(api) };
  } catch (error) {
    if (!(error instanceof CoreUnreachable) && !(error instanceof CoreRefused)) throw error;
    log.warn('the core of a previous panel does not answer; killing it', {
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
