// A panel that serves HTTPS itself, in this process, with an API token for its full admin.
import { mkdtemp, rm } from 'node:fs/promises';
import { request as send, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { FakeEngine, selfSigned, TestPanel, writePair } from '../../../test/harness/index.js';
import { portOf, tokenOf } from './world.js';

export interface Said {
  readonly status: number;
  readonly body: {
    readonly success: boolean;
    readonly msg: string;
    readonly obj: unknown;
    readonly code?: string;
  };
}
export interface TlsPanel {
  readonly panel: TestPanel;
  readonly port: number;
  readonly token: string;
  readonly cert: string;
  /** as the admin, unless `options` say otherwise */
  readonly call: (path: string, options?: RequestOptions & { body?: unknown }) => Promise<Said>;
}

export async function tlsPanel(t: ExecutionContext, names = ['localhost']): Promise<TlsPanel> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-node-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const pair = selfSigned(names[0]);
  const { certFile, keyFile } = await writePair(dataDirectory, pair);
  const options = () => ({ dataDirectory, plugins: [new FakeEngine().plugin] });
  const plain = await TestPanel.boot(options());
  const token = await tokenOf(plain);
  await plain.stop();
  const env = { WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: keyFile };
  const panel = await TestPanel.boot({ ...options(), env, anonymous: true });
  t.teardown(() => panel.stop());
  const port = portOf(panel);
  const call: TlsPanel['call'] = (path, { body, headers, ...more } = {}) =>
    new Promise((resolve, reject) => {
      const request = send({
        host: '127.0.0.1',
        port,
        path,
        method: body === undefined ? 'GET' : 'POST',
        ca: pair.cert,
        agent: false,
        headers: { 'content-type': 'application/json', ...(headers ?? { authorization: `Bearer ${token}` }) },
        ...more,
      });
      request.on('error', reject).on('response', (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Said['body'] }),
        );
      });
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return { panel, port, token, cert: pair.cert, call };
}
