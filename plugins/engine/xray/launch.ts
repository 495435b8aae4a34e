// Starts a core from a config, and adopts a running core from its record.
import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AppliedDigests,
  type CoreBase,
  CoreRefused,
  CoreUnreachable,
  type InboundWithUsers,
} from '../driver.js';
import { CannotRun, readTail, type RunningProcess, sizeOf } from '../../processes/contract.js';
import type { AccountCodecs } from './account-codecs.js';
import type { CoreApi } from './api.js';
import { API_TAG, configText } from './config-text.js';
import { coreEnvironment } from './environment.js';
import type { DriverLog, EngineFolder } from './folder.js';
import { RunningInbounds } from './inbounds.js';
import { lastMessage } from './last-output.js';
import { decode } from './messages.js';
import { markIn } from './name-mark.js';
import type { CoreNote, CoreSlot } from './record.js';
import { eachMessage } from './each-message.js';
import { removeStaleSockets } from './stale-sockets.js';

/** 100,000 users on five inbounds take 6 s on a small machine. */
const START_LIMIT_MS = 120_000;
const ADOPTION_LIMIT_MS = 3000;
const LOOK_EVERY_MS = 10;
const STARTED_LINE_LIMIT_MS = 2000;

/** A running core, with the channel to it. */
export interface CoreConnection {
  readonly process: RunningProcess<CoreNote>;
  readonly api: CoreApi;
  readonly inbounds: RunningInbounds;
}

export interface LaunchNeeds {
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
    (await lastMessage(folder.output)) ?? `the core exited without a message (${how}); see ${folder.error}`
  );
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Loads gRPC only when there is a core: saves time for a panel without one and for commands. */
async function apiAt(socket: string): Promise<CoreApi> {
  const { CoreApi } = await import('./api.js');
  return new CoreApi(socket);
}

async function ready(
  process: RunningProcess<CoreNote>,
  api: CoreApi,
  socket: string,
  started: () => Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (process.alive && Date.now() < deadline && !(await isThere(socket))) await sleep(LOOK_EVERY_MS);
  if (!process.alive) return;
  await api.answers(Math.max(deadline - Date.now(), 1));
  // the API answers before an inbound that cannot listen stops the core; this line says that all inbounds listen
  const lineDeadline = Date.now() + STARTED_LINE_LIMIT_MS;
  while (process.alive && Date.now() < lineDeadline && !(await started())) await sleep(LOOK_EVERY_MS);
}

/** Prepares for a new core: with a stale socket it would not start, and it would share its ports with a running core. */
async function makeRoom({ folder, slot }: LaunchNeeds): Promise<void> {
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
  needs: LaunchNeeds,
  base: CoreBase,
  inbounds: readonly InboundWithUsers[],
  digests: AppliedDigests,
): Promise<CoreConnection> {
  const { binary, folder, slot, codecs } = needs;
  await makeRoom(needs);
  await removeStaleSockets(inbounds);
  const socket = await folder.socket();
  codecs.names.mark = await markIn(folder);
  const api = await apiAt(socket);
  let process: RunningProcess<CoreNote> | undefined;
  try {
    await folder.write(
      folder.config,
      configText(base, inbounds, { socket, access: folder.access, error: folder.error }, codecs),
    );
    const logged = await sizeOf(folder.error);
    const started = async (): Promise<boolean> =>
      / core: Xray \S+ started/.test(await readTail(folder.error, logged));
    process = await slot.start(
      {
        command: binary,
        args: ['run', '-c', folder.config],
        env: coreEnvironment(folder.path),
        cwd: folder.path,
        output: folder.output,
        emptied: true,
      },
      { socket, record: digests, binary, mark: codecs.names.mark },
    );
    await untilReady(process, ready(process, api, socket, started), folder);
    const running = new RunningInbounds();
    for (const { tag, protocol } of inbounds)
      running.set(tag, codecs.accounts.of(protocol)?.inboundType ?? protocol);
    return { process, api, inbounds: running };
  } catch (error) {
    api.close();
    await process?.kill();
    await folder.removeSocket(socket);
    await slot.forget();
    throw error instanceof CannotRun ? new CoreUnreachable(error.message, { cause: error }) : error;
  }
}

/** A core that exits while we wait also breaks our call; its own message says more than the broken call. */
async function untilReady(
  process: RunningProcess<CoreNote>,
  waiting: Promise<void>,
  folder: EngineFolder,
): Promise<void> {
  const answer = waiting.catch((error: unknown) => {
    if (process.alive) throw error;
  });
  await Promise.race([process.ended, answer]);
  if (!process.alive) throw new CoreRefused(await reasonOfEnd(folder, await process.ended));
}

/** Reads the types from the core itself: the previous panel's record may be older than its last change. */
async function inboundsOf(api: CoreApi): Promise<RunningInbounds> {
  const running = new RunningInbounds();
  await eachMessage(await api.listInbounds(), 1, (bytes) => {
    const { tag, proxySettings } = decode('xray.core.InboundHandlerConfig', bytes);
    if (tag !== '' && tag !== API_TAG) running.set(tag, proxySettings?.type ?? 'unknown');
  });
  return running;
}

export async function adopt({ folder, slot, log, codecs }: LaunchNeeds): Promise<CoreConnection | undefined> {
  const process = await slot.adopt();
  if (process === undefined) {
    const previous = await slot.recorded();
    if (previous && !previous.alive) await folder.removeSocket(previous.note.socket);
    return undefined;
  }
  const { socket } = process.note;
  const api = await apiAt(socket);
  try {
    await api.answers(ADOPTION_LIMIT_MS);
    codecs.names.mark = process.note.mark ?? '';
    return { process, api, inbounds: await inboundsOf(api) };
  } catch (error) {
    if (!(error instanceof CoreUnreachable) && !(error instanceof CoreRefused)) throw error;
    log.warn('the core of a previous panel does not answer; killing it', {
      pid: process.identity.pid,
      reason: error.message,
    });
    api.close();
    await process.kill();
    await folder.removeSocket(socket);
    await slot.forget();
    return undefined;
  }
}
