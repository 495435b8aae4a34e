// A SOCKS inbound of the core for the panel alone, and the rules that lead from it to one outbound.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { CorePart } from '../engine/contract.js';
import type { LocalProxy } from '../outgoing/contract.js';

const HOST = '127.0.0.1';

/** A port that is free now; it stays until the next start of the panel. */
export async function findPort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export class CoreInbound {
  readonly #id: number;
  readonly #tag: string;
  readonly #port: number;
  /** Every user of the machine can connect to the port. */
  readonly #account = { user: randomBytes(12).toString('hex'), pass: randomBytes(24).toString('hex') };

  /** `number` tells it from others of the panel. Ids of inbounds in the database count up from 1. */
  constructor(number: number, port: number) {
    this.#id = Number.MAX_SAFE_INTEGER - number;
    this.#tag = number === 0 ? 'panel-outbound' : `panel-outbound-${number}`;
    this.#port = port;
  }

  parts(outboundTag: string): CorePart[] {
    const tag = this.#tag;
    const settings = { auth: 'password', accounts: [this.#account], udp: false };
    const config = { tag, listen: HOST, port: this.#port, protocol: 'socks', settings };
    const from = { type: 'field', inboundTag: [tag] };
    return [
      { inbound: { id: this.#id, tag, protocol: 'panel-outbound', config } },
      { rule: { ...from, outboundTag } },
      // The rule above is left out when the outbound is removed: then nothing leaves by another way.
      { rule: { ...from, outboundTag: 'blocked' } },
    ];
  }

  get proxy(): LocalProxy {
    const { user: username, pass: password } = this.#account;
    return { host: HOST, port: this.#port, username, password };
  }
}
