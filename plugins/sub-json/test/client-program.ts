// A client program: fetches the documents of a client, has them checked by the core, and connects with them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { PanelApi } from '../../../test/harness/api.js';
import { engineBinary, type Teardown } from '../../../test/engine/user.js';
import type { JsonObject } from '../../engine/contract.js';
import { type ByteServer, download, startClientCore } from '../../engine/xray/test/traffic.js';

export interface Outbound {
  readonly tag: string;
  readonly protocol: string;
  readonly settings: JsonObject;
  readonly streamSettings?: JsonObject & { readonly finalmask?: JsonObject; readonly sockopt?: JsonObject };
  readonly mux?: JsonObject;
}
export interface Document {
  readonly remarks: string;
  readonly dns: JsonObject;
  readonly inbounds: readonly { readonly listen: string }[];
  readonly outbounds: readonly Outbound[];
  readonly routing: {
    readonly domainStrategy: string;
    readonly rules: readonly JsonObject[];
    readonly balancers?: readonly JsonObject[];
  };
  readonly burstObservatory?: JsonObject;
}

/** Where subscriptions are fetched. */
export async function switchOn(panel: PanelApi, more: object = {}): Promise<void> {
  await panel.get('/panel/api/setting/update', {
    body: { subJsonEnable: true, jsonPath: '/json/', remarkTemplate: '{{INBOUND}}', ...more },
  });
}

export async function fetched(
  url: string,
  subId: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`${url}/json/${subId}`);
  return { status: answer.status, text: await answer.text() };
}
/** The documents as a list. */
export async function documentsOf(url: string, subId: string): Promise<Document[]> {
  const { status, text } = await fetched(url, subId);
  if (status !== 200) throw new Error(`the fetch is answered with ${status}`);
  return [JSON.parse(text) as Document | Document[]].flat();
}

/** What the core says against a config; empty when it takes it. */
export async function refusal(document: unknown): Promise<string> {
  const child = spawn(engineBinary(), ['run', '-test', '-c', 'stdin:'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.end(JSON.stringify(document));
  const [code] = (await once(child, 'close')) as [number];
  return code === 0 ? '' : output.trim().split('\n').slice(-1).join('');
}

/** Bytes that came through a document; what went wrong as a text. */
export async function downloadWith(
  t: Teardown,
  document: Document,
  server: ByteServer,
  bytes: number,
): Promise<number | string> {
  const core = await startClientCore({ binary: engineBinary(), config: document as unknown as JsonObject });
  t.teardown(core.stop);
  try {
    return await Promise.race([
      download({ socksPort: core.socksPort, server, bytes }),
      new Promise<string>((resolve) => setTimeout(resolve, 20_000, 'nothing comes').unref()),
    ]);
  } catch (error) {
    return String(error);
  } finally {
    await core.stop();
  }
}
