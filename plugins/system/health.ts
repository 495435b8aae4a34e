// `weir system health`: asks this panel over its own listener, so that a listener which hangs counts as well.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  command,
  type Command,
  type ListenersApi,
  messageOf,
  type PluginsApi,
  Refusal,
} from '../../kernel/index.js';
import type { PanelListenerApi } from '../settings/contract.js';

const LIMIT_MS = 10_000;
const WORKS = 200;

interface Place {
  readonly port: number;
  readonly path: string;
  readonly tls: boolean;
}

/** Resolves with the status of `healthz`. The certificate is that of another name, and the peer is this process. */
const statusAt = (host: string, { port, path, tls }: Place): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = (tls ? requestHttps : requestHttp)(
      {
        host,
        port,
        path,
        agent: false,
        // The panel closes connections that come from a public address of this machine.
        ...(isIPv4(host) && { localAddress: '127.0.0.1' }),
        ...(tls && { rejectUnauthorized: false }),
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.setTimeout(LIMIT_MS, () => request.destroy(new Error(`no answer within ${LIMIT_MS / 1000} s`)));
    request.on('error', reject).end();
  });

/** The listener is on loopback, or on one address of this machine. */
const hosts = (): string[] => [
  ...new Set([
    '127.0.0.1',
    '::1',
    ...Object.values(networkInterfaces()).flatMap((some) => (some ?? []).map(({ address }) => address)),
  ]),
];

async function status(place: Place): Promise<number> {
  let last: unknown;
  for (const host of hosts())
    try {
      return await statusAt(host, place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') last = error;
      last ??= error;
    }
  throw last;
}

interface Needs {
  readonly listeners: ListenersApi;
  readonly plugins: PluginsApi;
  /** missing where the panel is embedded in another program */
  readonly listener: PanelListenerApi | undefined;
}

export const healthCommand = ({ listeners, plugins, listener }: Needs): Command =>
  command({
    name: 'system health',
    about:
      'Asks the listener of this panel for `healthz`, and lists plugins that do not run. `weir health` does the same, and starts no panel where none runs.',
    options: {},
    example: 'weir system health',
    run: async ({ say }) => {
      const place: Place = {
        port: listeners.panel.port,
        path: `${listeners.panel.basePath.replace(/\/$/, '')}/healthz`,
        tls: (listener?.certificateFiles.certificate ?? '') !== '',
      };
      const found = await status(place).catch((error: unknown) => {
        throw new Refusal(`the panel does not answer on port ${place.port}: ${messageOf(error)}`);
      });
      if (found !== WORKS)
        throw new Refusal(`the panel answers ${found}: it cannot save now; its log says why`);
      say(`the panel works, on port ${place.port}`);
      for (const { name, state, reason } of plugins.list())
        if (state !== 'running' && state !== 'starting') say(`plugin ${name} does not run: ${reason}`);
    },
  });
