// A panel with inbounds of several kinds, one client each, and a format that shows entries as data.
import { definePlugin, contribute, type Plugin } from '../../../kernel/index.js';
import { FakeEngine, selfSigned, TestPanel } from '../../../test/harness/index.js';
import { Formats } from '../../subscription/contract.js';

export const HOSTS = '/panel/api/hosts';
export type Fields = Readonly<Record<string, unknown>>;

/** Stands for the formats that write documents. */
export const documents = definePlugin({
  name: 'documents',
  version: '1.0.0',
  api: 1,
  about: 'For a test.',
  contributes: () => [
    contribute(Formats, {
      name: 'json',
      contentType: 'application/json',
      prefix: () => '/doc/',
      cannot: () => undefined,
      document: (entries) => JSON.stringify(entries.map(({ entry }) => entry)),
    }),
  ],
});

const tlsSettings = (): object => {
  const { cert, key } = selfSigned();
  return {
    serverName: 'base.sni',
    alpn: ['h2'],
    settings: { fingerprint: 'chrome' },
    certificates: [{ certificate: cert.trim().split('\n'), key: key.trim().split('\n') }],
  };
};
export const STREAMS: Readonly<Record<string, () => object>> = {
  ws: () => ({
    network: 'ws',
    wsSettings: { path: '/base', host: 'base.host' },
    security: 'tls',
    tlsSettings: tlsSettings(),
    finalmask: { tcp: [{ type: 'sudoku', settings: { password: 'p' } }] },
  }),
  grpc: () => ({ network: 'grpc', grpcSettings: { serviceName: 'svc', authority: 'base.authority' } }),
  http: () => ({
    network: 'tcp',
    tcpSettings: {
      header: { type: 'http', request: { path: ['/base'], headers: { Host: ['base.host'] } } },
    },
  }),
  tcp: () => ({ network: 'tcp', security: 'none' }),
  vision: () => ({ network: 'tcp', security: 'tls', tlsSettings: tlsSettings() }),
  reality: () => ({
    network: 'tcp',
    security: 'reality',
    realitySettings: {
      target: 'r.example.com:443',
      serverNames: ['r.example.com'],
      shortIds: ['abcd'],
      privateKey: 'cAdtCnMYpX08FsFyUbJmRd9MLyyZ69mKCn-Mty-SjXo',
    },
  }),
};

export interface World {
  readonly panel: TestPanel;
  /** by the name of the stream; its client has this name as email and subId */
  readonly inbounds: Readonly<Record<string, number>>;
  links(name: string): Promise<string[]>;
  entries(name: string): Promise<Fields[]>;
  /** Adds a group and resolves with its groupId. */
  add(fields: Fields): Promise<string>;
}

export async function openWorld(
  names: readonly string[] = Object.keys(STREAMS),
  others: readonly Plugin[] = [],
): Promise<World> {
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, documents, ...others],
    // Its format has the same name.
    without: ['sub-json', 'sub-balancers'],
  });
  await panel.get('/panel/api/setting/update', {
    body: { subPath: '/s/', subEncrypt: false, remarkTemplate: '' },
  });
  const inbounds: Record<string, number> = {};
  for (const name of names) {
    inbounds[name] = await panel.addInbound({
      remark: name,
      shareAddr: '203.0.113.1',
      shareAddrStrategy: 'custom',
      streamSettings: STREAMS[name]?.(),
    });
    await panel.addClient(name, [inbounds[name]], {
      subId: name,
      ...(name === 'vision' && { flow: 'xtls-rprx-vision' }),
    });
  }
  const fetched = async (path: string) => (await fetch(panel.subscriptionUrl + path)).text();
  return {
    panel,
    inbounds,
    links: async (name) =>
      (await fetched(`/s/${name}`))
        .trim()
        .split('\n')
        .filter((line) => line !== ''),
    entries: async (name) => JSON.parse(await fetched(`/doc/${name}`)) as Fields[],
    add: async (fields) =>
      (await panel.get<{ groupId: string }[]>(`${HOSTS}/add`, { body: fields }))[0]?.groupId ?? '',
  };
}
