// Inbounds whose traffic leaves through the core: a SOCKS inbound of the core on loopback, with the tag of the inbound, so
// that rules of the core apply to it by that tag.
import { createHmac, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../kernel/index.js';
import type { CorePart } from '../engine/contract.js';
import type { Inbound } from '../inbounds/contract.js';

const USER = 'mtproto';
const KEY = /^[0-9a-f]{64}$/;

export class EngineRoute {
  readonly #path: string;
  #key = '';

  constructor({ dataDirectory }: { dataDirectory: string }) {
    this.#path = join(dataDirectory, 'sidecars', 'mtproto-route.key');
  }

  /** Reads the key of the passwords: those of a program that a previous panel started must stay. */
  async open(): Promise<void> {
    const stored = await readFile(this.#path, 'utf8').catch(() => '');
    this.#key = KEY.test(stored.trim()) ? stored.trim() : randomBytes(32).toString('hex');
    if (stored.trim() !== this.#key) await replaceFile(this.#path, `${this.#key}\n`, 0o600);
  }

  #portOf({ settings }: Pick<Inbound, 'settings'>): number | undefined {
    const port = settings['routeEnginePort'];
    return settings['routeThroughEngine'] === true && typeof port === 'number' && port > 0 ? port : undefined;
  }

  /** Nobody else on this machine may use the core by this port. */
  #password(id: number): string {
    return createHmac('sha256', this.#key).update(String(id)).digest('hex');
  }

  /** Returns the address that the program calls Telegram through; undefined where it calls by itself. */
  proxyFor(inbound: Inbound): string | undefined {
    const port = this.#portOf(inbound);
    return port === undefined
      ? undefined
      : `socks5://${USER}:${this.#password(inbound.id)}@127.0.0.1:${port}`;
  }

  /** Returns what the core needs for it. */
  partsFor(inbound: Inbound): CorePart[] {
    const port = this.#portOf(inbound);
    if (port === undefined) return [];
    const { id, tag, settings } = inbound;
    const accounts = [{ user: USER, pass: this.#password(id) }];
    const config = {
      tag,
      listen: '127.0.0.1',
      port,
      protocol: 'mixed',
      settings: { auth: 'password', accounts, udp: false },
    };
    const outboundTag = settings['outboundTag'];
    return [
      { inbound: { id, tag, protocol: 'mixed', config } },
      ...(typeof outboundTag === 'string' && outboundTag !== ''
        ? [{ rule: { type: 'field', inboundTag: [tag], outboundTag } }]
        : []),
    ];
  }
}
