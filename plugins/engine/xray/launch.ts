// From a config to a core that answers, and from a record to a core that runs already.
import { setTimeout as sleep } from 'node:timers/promises';
import { realpath } from 'node:fs/promises';
import { CoreRefused, CoreUnreachable, type CoreBase, type CoreRecord } from '../driver.js';
import type { AccountCodecs } from './accounts.js';
import { CoreApi } from './api.js';
import { API_TAG, configText, type InboundWithUsers } from './config.js';
import { lastWords } from './failures.js';
import { exists, readTail, sizeOf, type DriverLog, type EngineFolder } from './folder.js';
import { commandLine, isAlive, processesWith } from './identity.js';
import { RunningInbounds } from './inbounds.js';
import { decode } from './messages.js';
import { CoreInstance } from './process.js';
import { forgetCore, loadCore, saveCore, type SavedCore } from './record.js';
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
  saved: SavedCore;
}

export interface LaunchContext {
  readonly binary: string;
  readonly folder: EngineFolder;
  readonly log: DriverLog;
  readonly codecs: AccountCodecs;
}

const load = ({ folder, log }: LaunchContext): Promise<SavedCore | undefined> =>
  loadCore(folder, (reason) =>
    log.warn('core.json cannot be read; a core that still runs will not be found', {
      path: folder.record,
      reason,
    }),
  );

/** What the core said when it ended; `how` when it said nothing. */
export async function reasonOfEnd(folder: EngineFolder, how: string): Promise<string> {
  return (
    lastWords(await readTail(folder.output)) ?? `the core ended without a word (${how}); see ${folder.error}`
  );
}

async function ready(
  instance: CoreInstance,
  api: CoreApi,
  socket: string,
  started: () => Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (instance.alive && Date.now() < deadline && !(await exists(socket))) await sleep(LOOK_EVERY_MS);
  if (!instance.alive) return;
  await api.answers(Math.max(deadline - Date.now(), 1));
  // an inbound that cannot listen ends the core just after it has let our call in; the line says that all of them do
  const patience = Date.now() + STARTED_LINE_LIMIT_MS;
  while (instance.alive && Date.now() < patience && !(await started())) await sleep(LOOK_EVERY_MS);
}

/** Frees the place for a new core: a stale socket would keep it from starting, a living core would share its ports with it. */
async function makeRoom(context: LaunchContext): Promise<void> {
  const { folder, log } = context;
  await folder.prepare();
  const former = await load(context);
  if (former !== undefined && isAlive(former.identity))
    throw new Error(
      `a core (pid ${former.identity.pid}) runs in ${folder.path} already; adopt or stop it first`,
    );
  if (former !== undefined) await folder.removeSocket(former.socket);
  // A panel that was killed between the start of a core and the note of it leaves one that nobody knows.
  for (const stray of await processesWith(folder.config)) {
    log.warn('a core that nobody wrote down runs here; it is ended', { pid: stray.pid });
    await CoreInstance.watch(stray).kill();
    await folder.removeSocket(folder.usualSocket);
  }
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
  const { binary, folder, codecs } = context;
  await makeRoom(context);
  const socket = await folder.socket();
  const api = new CoreApi(socket);
  let instance: CoreInstance | undefined;
  try {
    await folder.write(
      folder.config,
      configText(base, inbounds, { socket, access: folder.access, error: folder.error }, codecs),
    );
    const logged = await sizeOf(folder.error);
    const started = async (): Promise<boolean> =>
      / core: Xray \S+ started/.test(await readTail(folder.error, logged));
    instance = await CoreInstance.spawn({
      binary,
      args: ['run', '-c', folder.config],
      directory: folder.path,
      output: folder.output,
    });
    const saved: SavedCore = { identity: instance.identity, startedAt: Date.now(), socket, record };
    await saveCore(folder, saved);
    await untilReady(instance, ready(instance, api, socket, started), folder);
    const running = new RunningInbounds();
    for (const { tag, protocol } of inbounds)
      running.set(tag, codecs.accounts.of(protocol)?.inboundType ?? protocol);
    return { instance, api, inbounds: running, saved };
  } catch (error) {
    api.close();
    await instance?.kill();
    await folder.removeSocket(socket);
    await forgetCore(folder);
    throw error;
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

async function runsOurConfig({ binary, folder }: LaunchContext, pid: number): Promise<boolean> {
  const args = await commandLine(pid);
  const program = await realpath(`/proc/${pid}/exe`).catch(() => '');
  return args.includes(folder.config) || program === (await realpath(binary).catch(() => binary));
}

export async function adopt(context: LaunchContext): Promise<RunningCore | undefined> {
  const { folder, log } = context;
  const saved = await load(context);
  if (saved === undefined) return undefined;
  const { pid } = saved.identity;
  if (!isAlive(saved.identity)) {
    await folder.removeSocket(saved.socket);
    return undefined;
  }
  if (!(await runsOurConfig(context, pid))) {
    log.warn('the process in core.json is not a core of ours', { pid });
    return undefined;
  }
  const instance = CoreInstance.watch(saved.identity);
  const api = new CoreApi(saved.socket);
  try {
    await api.answers(ADOPTION_LIMIT_MS);
    return { instance, api, inbounds: await inboundsOf(api), saved };
  } catch (error) {
    if (!(error instanceof CoreUnreachable) && !(error instanceof CoreRefused)) throw error;
    log.warn('a core of a former panel runs but does not answer; it is ended', {
      pid,
      reason: error.message,
    });
    api.close();
    await instance.kill();
    await folder.removeSocket(saved.socket);
    await forgetCore(folder);
    return undefined;
  }
}
