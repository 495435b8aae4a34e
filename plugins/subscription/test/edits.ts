// A panel whose client is fetched in every format, and the edits that change what is fetched.
import type { ExecutionContext } from 'ava';
import type { PanelApi } from '../../../test/harness/api.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

export const PATHS = { links: '/links/', json: '/json/', alt: '/alt/', 'sing-box': '/sing-box/' } as const;
export type FormatName = keyof typeof PATHS;
export const FORMATS = Object.keys(PATHS) as FormatName[];
export const UUID = '11111111-2222-4333-8444-555555555555';

export interface Subscribed {
  readonly panel: TestPanel;
  /** of the client: over tcp and over WebSocket */
  readonly inbounds: readonly [number, number];
  post(path: string, body?: object): Promise<unknown>;
  set(values: object): Promise<unknown>;
}

/** Serves all formats below the paths of `PATHS`. */
export const serveAll = (panel: PanelApi): Promise<unknown> =>
  panel.get('/panel/api/setting/update', {
    body: {
      subPath: PATHS.links,
      subEncrypt: false,
      subJsonEnable: true,
      jsonPath: PATHS.json,
      subAltEnable: true,
      altFormatPath: PATHS.alt,
      subSingBoxEnable: true,
      subSingBoxPath: PATHS['sing-box'],
      remarkTemplate: '{{INBOUND}}-{{EMAIL}}',
    },
  });

/** The client `ann`, with the subId `ann`. */
export async function subscribed(t: ExecutionContext): Promise<Subscribed> {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const post = (path: string, body: object = {}) => panel.get(`/panel/api/${path}`, { body });
  const set = (values: object) => post('setting/update', values);
  await serveAll(panel);
  // Those on loopback are compiled again by `fallbacks` with each other inbound, which would hide what is missing here.
  const listen = '';
  const inbounds = [
    await panel.addInbound({ listen, remark: 'one', port: 20_001 }),
    await panel.addInbound({
      listen,
      remark: 'two',
      port: 20_002,
      streamSettings: { network: 'ws', wsSettings: { path: '/old-path' } },
    }),
  ] as const;
  await panel.addClient('ann', inbounds, { subId: 'ann', uuid: UUID });
  return { panel, inbounds, post, set };
}

export interface Fetched {
  readonly status: number;
  readonly etag: string;
  /** all that was sent, headers included */
  readonly text: string;
}
export async function fetchIn(
  { panel }: Subscribed,
  format: FormatName,
  { id = 'ann', etag }: { id?: string; etag?: string | undefined } = {},
): Promise<Fetched> {
  const answer = await fetch(panel.subscriptionUrl + PATHS[format] + id, {
    headers: etag === undefined ? {} : { 'if-none-match': etag },
  });
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}\n`).join('');
  const text = headers + decodeURIComponent((await answer.text()).replaceAll(/%(?![\da-f]{2})/gi, '%25'));
  return { status: answer.status, etag: answer.headers.get('etag') ?? '', text };
}
