// A user's side in tests with a whole panel: their link, read as a client program reads it, and a core that connects with it.
import type { ExecutionContext } from 'ava';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ByteServer,
  type ByteServerOptions,
  download,
  startByteServer,
  startClientCore,
} from '../../plugins/engine/xray/test/traffic.js';
import { outboundOf } from '../demo/link-to-outbound.js';
import { PanelProcess, type PanelProcessOptions } from '../harness/panel-process.js';

export const MIB = 1024 * 1024;
const SERVED_LIMIT_MS = 10_000;

export function engineBinary(): string {
  const binary = process.env['WEIR_ENGINE_BIN'];
  if (!binary) throw new Error('WEIR_ENGINE_BIN must name the core, e.g. WEIR_ENGINE_BIN=/opt/xray/xray');
  return binary;
}

/** A panel that is gone, with its core and folder, when the test is over. */
export async function openPanel(
  t: ExecutionContext,
  options: PanelProcessOptions = {},
): Promise<PanelProcess> {
  const panel = await PanelProcess.start({
    ...options,
    env: { WEIR_ENGINE_BIN: engineBinary(), ...options.env },
  });
  t.teardown(() => panel.dispose());
  return panel;
}

export async function openServer(t: ExecutionContext, options?: ByteServerOptions): Promise<ByteServer> {
  const server = await startByteServer(options);
  t.teardown(() => server.stop());
  return server;
}

export interface User {
  /** Resolves with the bytes that came; rejects when the core lets nobody in. */
  download(
    bytes: number,
    options?: { readonly rate?: number; readonly onBytes?: (soFar: number) => void },
  ): Promise<number>;
  /** Whether a new connection is served. */
  served(): Promise<boolean>;
  /** Closes the user's program before the test is over. */
  end(): Promise<void>;
}

/** Connects as the client's link at this position says. */
export async function connect(
  t: ExecutionContext,
  panel: PanelProcess,
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
    download: (bytes, options) => download({ socksPort, server, bytes, ...options }),
    // A connection that hangs serves nobody.
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
export const usageOf = (panel: PanelProcess, email: string): Promise<Usage> =>
  panel.get(`/panel/api/clients/traffic/${email}`);

/** Counted bytes are the payload and a little for headers, never less. */
export const within = (counted: number, payload: number): boolean =>
  counted >= payload && counted <= payload * 1.02;

/** Waits until the polls have counted this much of a client's downloads. */
export async function counted(panel: PanelProcess, email: string, payload: number): Promise<number> {
  await panel.until(
    async () => (await usageOf(panel, email)).down >= payload,
    `${payload} bytes of ${email} are counted`,
  );
  return (await usageOf(panel, email)).down;
}

export interface EngineView {
  readonly state: string;
  readonly errorMsg: string;
  readonly version: string;
}
export const engineOf = async (panel: PanelProcess): Promise<EngineView> =>
  (await panel.get<{ engine: EngineView }>('/panel/api/server/status')).engine;
