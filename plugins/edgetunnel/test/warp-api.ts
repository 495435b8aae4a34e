// The tunnel service, as nock answers for it: the shapes of recorded replies, and what a test changes in them.
import nock from 'nock';
import { newKeyPair, publicKeyOf } from '../keys.js';

export const ORIGIN = 'https://api.cloudflareclient.com';
export const BASE = '/v0a4005';

type Fields = Readonly<Record<string, unknown>>;
export interface Asked {
  readonly call: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Fields;
}
export interface Device {
  readonly id: string;
  readonly token: string;
  /** public key that the panel sent */
  readonly key: string;
  license: string;
}
/** The far end that replies name. */
export interface FarEnd {
  readonly publicKey: string;
  readonly endpoint: string;
  readonly v4: string;
}
export type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>];

const LICENSE = 'q1w2e3r4';
export const BOUGHT = 'a1B2c3D4-e5F6g7H8-i9J0k1L2';

export class WarpApi {
  readonly asked: Asked[] = [];
  readonly devices = new Map<string, Device>();
  farEnd: FarEnd = {
    publicKey: publicKeyOf(newKeyPair().privateKey),
    endpoint: 'engage.cloudflareclient.com:2408',
    v4: '172.16.0.2',
  };
  /** Answers in place of the service, by the beginning of a call such as `POST /reg`; undefined for the usual answer. */
  readonly instead = new Map<string, (body: Fields) => Answer | undefined | Promise<Answer | undefined>>();
  #count = 0;

  /** Without nock, a server of the test calls `answer`. */
  constructor({ overNock = true } = {}) {
    if (!overNock) return;
    const scope = nock(ORIGIN).persist();
    const answer = this.answer.bind(this);
    for (const method of ['get', 'post', 'put', 'delete'] as const)
      scope[method](/.*/).reply(async function reply(path, body) {
        return [...(await answer(method.toUpperCase(), path, this.req.headers, body))];
      });
  }

  get calls(): string[] {
    return this.asked.map(({ call }) => call);
  }
  /** Calls since the last look. */
  take(): string[] {
    return this.asked.splice(0).map(({ call }) => call);
  }

  /** What the service says of a device. */
  describe({ id, key, license }: Device): Fields {
    const { publicKey, endpoint, v4 } = this.farEnd;
    return {
      id,
      type: 'PC',
      model: 'x-ui',
      name: 'host',
      key,
      account: {
        id: `account-${id}`,
        account_type: license.length >= 26 ? 'unlimited' : 'free',
        created: '2026-01-01T00:00:00Z',
        updated: '2026-01-01T00:00:00Z',
        premium_data: 0,
        quota: 0,
        usage: 0,
        warp_plus: true,
        referral_count: 0,
        role: 'child',
        license,
      },
      config: {
        client_id: 'AQID',
        peers: [
          {
            public_key: publicKey,
            endpoint: { v4: '162.159.192.1:0', v6: '[2606:4700:d0::a29f:c001]:0', host: endpoint },
          },
        ],
        interface: { addresses: { v4, v6: '2606:4700:110:8a36::2' } },
        services: { http_proxy: '172.16.0.1:2480' },
      },
      warp_enabled: false,
      waitlist_enabled: false,
      created: '2026-01-01T00:00:00Z',
      enabled: true,
    };
  }

  async answer(method: string, url: string, headers: Fields, body: unknown): Promise<Answer> {
    const path = url.replace(BASE, '');
    const call = `${method} ${path}`;
    this.asked.push({ call, headers, body: (Object(body) ?? {}) as Fields });
    const [, id = ''] = /^\/reg\/([^/]+)/.exec(path) ?? [];
    const device = this.devices.get(id);
    for (const [beginning, answer] of this.instead)
      if (call.startsWith(beginning)) {
        const found = await answer(body as Fields);
        if (found) return found;
      }
    if (!url.startsWith(BASE)) return [404, ''];
    if (call === 'POST /reg') return this.register(body as { key: string });
    const [authorization] = [headers['authorization']].flat();
    if (!device) return refused(404, 'Not found');
    if (authorization !== `Bearer ${device.token}`) return refused(401, 'Unauthorized');
    if (method === 'GET') return [200, this.describe(device)];
    if (method === 'PUT') {
      device.license = String((body as Fields)['license']);
      return [200, { id: `account-${id}`, license: device.license, account_type: 'unlimited' }];
    }
    this.devices.delete(id);
    return [204, ''];
  }

  /** Registers as the service does. */
  register({ key }: { key: string }): Answer {
    const id = `device-${++this.#count}`;
    const device = { id, token: `token-${this.#count}`, key, license: LICENSE };
    this.devices.set(id, device);
    return [200, { ...this.describe(device), token: device.token }];
  }
}

export const refused = (status: number, message: string): Answer => [
  status,
  { success: false, errors: [{ code: 1000, message }], messages: [], result: null },
];
