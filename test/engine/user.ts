// The user's side of tests with a whole panel: a link, read as a client program does, and a core that connects with it.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ByteServer,
  type ByteServerOptions,
  download,
  startByteServer,
  startClientCore,
} from '../../plugins/engine/xray/test/traffic.js';
import { outboundOf } from '../demo/link-to-outbound.js';
import type { PanelApi } from '../harness/api.js';
import { PanelProcess, type PanelProcessOptions } from '../harness/panel-process.js';
import { CorePanel, type CorePanelOptions, type Teardown } from './core-panel.js';

export type { Teardown } from './core-panel.js';

export const MIB = 1024 * 1024;
const SERVED_LIMIT_MS = 10_000;
const COUNTED_LIMIT_MS = 30_000;

export function engineBinary(): string {
  const binary = process.env['WEIR_ENGINE_BIN'];
  if (!binary) throw new Error('WEIR_ENGINE_BIN must name the core, e.g. WEIR_ENGINE_BIN=/opt/xray/xray');
  return binary;
}

/** Closes what several tests of a file share, after all of them and whatever their result. */
export function teardownOfFile(test: { after: { always(close: () => Promise<void>): void } }): Teardown {
  const closes: (() => unknown)[] = [];
  test.after.always(async () => {
    for (const close of closes.reverse()) await close();
  });
  return { teardown: (close) => void closes.push(close) };
}

/** A panel in this process, with a real core; see CorePanel. */
export const openPanel = (t: Teardown, options: CorePanelOptions = {}): Promise<CorePanel> =>
  CorePanel.boot(t, options);

/** A panel in a process of its own, for what only that can show. It is gone, with its core and folder, when the test is over. */
export async function spawnPanel(t: Teardown, options: PanelProcessOptions = {}): Promise<PanelProcess> {
  const panel = await PanelProcess.start({
    ...options,
    env: { WEIR_ENGINE_BIN: engineBinary(), ...options.env },
  });
  t.teardown(() => panel.dispose());
  return panel;
}

export async function openServer(t: Teardown, options?: ByteServerOptions): Promise<ByteServer> {
  const server = await startByteServer(options);
  t.teardown(() => server.stop());
  return server;
}

/** A download that runs beside the test. */
export interface Transfer {
  /** bytes that came until now */
  readonly soFar: number;
  /** Resolves with the bytes that came in all; a broken connection is no error. */
  readonly ended: Promise<number>;
}

export interface User {
  /** Starts a download. `rate` in bytes per second, 0 for full speed. */
  start(bytes: number, rate?: number): Transfer;
  /** Resolves with the bytes that came; rejects when the core refuses the connection. */
  download(bytes: number): Promise<number>;
  /** Whether a new connection is served. */
  served(): Promise<boolean>;
  /** Closes the user's program before the test is over. */
  end(): Promise<void>;
}

/** Connects as the client's link at this position says. */
export async function connect(
  t: Teardown,
  panel: PanelApi,
  email: string,
  server: ByteServer,
  position = 0,
): Promise<User> {
  const links = await panel.get<string[]>(`/panel/api/clients/links/${email}`);
  const core = await startClientCore({
    binary: engineBinary(),
    outbound: outboundOf(links[position] ?? '').outbound,
  });
  t.teardown(core.stop);
  const { socksPort } = core;
  return {
    start(bytes, rate = 0) {
      const transfer = { soFar: 0, ended: Promise.resolve(0) };
      transfer.ended = download({
        socksPort,
        server,
        bytes,
        rate,
        onBytes: (soFar) => (transfer.soFar = soFar),
      }).catch(() => transfer.soFar);
      return transfer;
    },
    download: (bytes) => download({ socksPort, server, bytes }),
    // A connection that hangs counts as not served.
    served: () =>
      Promise.race([
        download({ socksPort, server, bytes: 1000 }).then(
          (came) => came === 1000,
          () => false,
        ),
        sleep(SERVED_LIMIT_MS, false, { ref: false }),
      ]),
    end: core.stop,
  };
}

export interface Usage {
  readonly up: number;
  readonly down: number;
  readonly enable: boolean;
}
export const usageOf = (panel: PanelApi, email: string): Promise<Usage> =>
  panel.get(`/panel/api/clients/traffic/${email}`);

/** Counted bytes are the payload and a little for headers, never less. */
export const within = (counted: number, payload: number): boolean =>
  counted >= payload && counted <= payload * 1.02;

/** Reads the core's counters now instead of within five seconds. */
export const poll = (panel: PanelApi): Promise<unknown> =>
  panel.call('/panel/api/system/jobs/traffic/poll', { method: 'POST' });

/** Polls until this much of a client's downloads is counted. */
export async function counted(panel: PanelApi, email: string, payload: number): Promise<number> {
  for (const deadline = Date.now() + COUNTED_LIMIT_MS; ; await sleep(100)) {
    await poll(panel);
    const { down } = await usageOf(panel, email);
    if (down >= payload) return down;
    if (Date.now() > deadline) throw new Error(`${down} bytes of ${email} are counted, not ${payload}`);
  }
}

export interface EngineView {
  readonly state: string;
  readonly errorMsg: string;
  readonly version: string;
  readonly usersOnTheWay: number;
  /** bytes */
  readonly memory: { readonly bytes: number; readonly limit: number; readonly isHigh: boolean };
}
export const engineOf = async (panel: PanelApi): Promise<EngineView> =>
  (await panel.get<{ engine: EngineView }>('/panel/api/server/status')).engine;
