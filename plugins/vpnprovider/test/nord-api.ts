// The VPN provider, as nock answers for it: the shapes of recorded replies.
import type { ExecutionContext } from 'ava';
import nock from 'nock';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { newX25519 } from '../../keygen/contract.js';

export const ORIGIN = 'https://api.nordvpn.com';
export const TOKEN = 'e9f2ab3ce9f2ab3c';

export const newKey = (): string => newX25519('base64').privateKey;

export const COUNTRIES = [
  { id: 81, name: 'Germany', code: 'DE', cities: [{ id: 2181458, name: 'Berlin', dns_name: 'berlin' }] },
  { id: 228, name: 'United States', code: 'US', cities: [] },
];

export interface ListedServer {
  readonly hostname: string;
  readonly station: string;
  readonly load: number;
  readonly technologies: readonly object[];
}
export const serverOf = (number: number, load: number, publicKey = newKey()): ListedServer & { id: number } =>
  ({
    id: 900_000 + number,
    created_at: '2024-01-01 00:00:00',
    name: `Germany #${number} "quoted }]} \\" text`,
    station: `203.0.113.${number % 250}`,
    ipv6_station: '',
    hostname: `de${number}.nordvpn.com`,
    status: 'online',
    load,
    cpt: 0,
    location_ids: [367],
    service_ids: [1, 5],
    group_ids: [11, 19],
    technologies: [
      { id: 3, status: 'online' },
      {
        id: 35,
        status: 'online',
        metadata: [{ name: 'public_key', value: publicKey }],
      },
    ],
    ips: [{ id: number, ip: { id: number, ip: `203.0.113.${number % 250}`, version: 4 } }],
    specifications: [{ id: 8, identifier: 'version', values: [{ id: 257, value: '2.1.0' }] }],
  }) as never;
export const listOf = (servers: readonly object[]) => ({
  servers,
  groups: [{ id: 11, title: 'Standard VPN servers' }],
  services: [{ id: 1, name: 'VPN' }],
  locations: [{ id: 367, country: { id: 81, name: 'Germany', city: { id: 2181458, name: 'Berlin' } } }],
  technologies: [{ id: 35, name: 'Wireguard' }],
});

type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>];
export class NordApi {
  readonly asked: string[] = [];
  readonly authorizations: string[] = [];
  servers: readonly object[] = [serverOf(1, 30), serverOf(2, 7), serverOf(3, 8)];
  readonly key = newKey();
  /** answers in place of the service */
  instead: (() => Answer) | undefined;

  constructor() {
    nock.cleanAll();
    const answer = this.#answer.bind(this);
    nock(ORIGIN)
      .persist()
      .get(/.*/)
      .reply(function reply(path) {
        return [...answer(path, String([this.req.headers['authorization']].flat()[0] ?? ''))] as never;
      });
  }

  #answer(url: string, authorization: string): Answer {
    this.asked.push(decodeURIComponent(url));
    if (authorization !== '') this.authorizations.push(authorization);
    if (this.instead) return this.instead();
    const { pathname } = new URL(url, ORIGIN);
    if (pathname === '/v1/countries') return [200, COUNTRIES];
    if (pathname === '/v2/servers') return [200, listOf(this.servers)];
    if (pathname !== '/v1/users/services/credentials') return [404, ''];
    const basic = `Basic ${Buffer.from(`token:${TOKEN}`).toString('base64')}`;
    return authorization === basic
      ? [200, { id: 1, username: 'u', password: 'p', nordlynx_private_key: this.key }]
      : [401, { errors: { code: 100103, message: 'Unauthorized' } }];
  }
}

/** A panel without a core. */
export async function openProviderPanel(t: ExecutionContext) {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return {
    panel,
    act: (action: string, body?: object) =>
      panel.call<string>(`/panel/api/engine/vpnprovider/${action}`, {
        method: 'POST',
        ...(body && { body }),
      }),
    apply: (body: object) =>
      panel.call<{ tag: string; replaced: boolean; endpoint: string }>('/panel/api/x/vpnprovider/apply', {
        body,
      }),
    outbounds: async () => {
      const { engineSetting } = await panel.get<{ engineSetting: string }>('/panel/api/engine/', {
        method: 'POST',
      });
      return (JSON.parse(engineSetting) as { outbounds: { tag: string }[] }).outbounds;
    },
  };
}
