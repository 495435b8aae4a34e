// A SOCKS inbound of the core for the panel alone, and the rule that leads from it to the outbound.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { LiveSettings, Log } from '../../kernel/index.js';
import type { CorePart, EngineApi } from '../engine/contract.js';
import type { LocalProxy, WayOut } from '../outgoing/contract.js';
import type { panelOutboundSettings } from './index.js';

const TAG = 'panel-outbound';
const HOST = '127.0.0.1';
/** Ids of inbounds in the database count up from 1. */
const ID = Number.MAX_SAFE_INTEGER;

export class WayThroughCore implements WayOut {
  readonly #engine: Pick<EngineApi, 'status'>;
  readonly #settings: LiveSettings<typeof panelOutboundSettings>;
  readonly #log: Log;
  /** Every user of the machine can connect to the port. */
  readonly #account = { user: randomBytes(12).toString('hex'), pass: randomBytes(24).toString('hex') };
  #port = 0;
  #wasDirect = false;

  constructor({
    engine,
    settings,
    log,
  }: {
    engine: EngineApi;
    settings: LiveSettings<typeof panelOutboundSettings>;
    log: Log;
  }) {
    this.#engine = engine;
    this.#settings = settings;
    this.#log = log;
  }

  /** Finds a free port; it stays until the next start of the panel. */
  async start(): Promise<void> {
    const server = createServer().listen(0, HOST);
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    server.close();
    await once(server, 'close');
  }

  /** What the core needs for it; nothing while the setting is empty. */
  parts(): CorePart[] {
    const { panelOutbound: outboundTag } = this.#settings.read();
    if (outboundTag === '') return [];
    const settings = { auth: 'password', accounts: [this.#account], udp: false };
    const config = { tag: TAG, listen: HOST, port: this.#port, protocol: 'socks', settings };
    const from = { type: 'field', inboundTag: [TAG] };
    return [
      { inbound: { id: ID, tag: TAG, protocol: TAG, config } },
      { rule: { ...from, outboundTag } },
      // The rule above is left out when the outbound is removed: then nothing leaves by another way.
      { rule: { ...from, outboundTag: 'blocked' } },
    ];
  }

  proxy(): LocalProxy | undefined {
    const { panelOutbound } = this.#settings.read();
    if (panelOutbound === '') return undefined;
    const isDirect = this.#engine.status().state !== 'running';
    if (isDirect !== this.#wasDirect)
      this.#log.warn(
        isDirect
          ? 'the core does not run, so the panel calls other machines directly'
          : 'the panel calls other machines through its outbound again',
        { panelOutbound },
      );
    this.#wasDirect = isDirect;
    const { user: username, pass: password } = this.#account;
    return isDirect ? undefined : { host: HOST, port: this.#port, username, password };
  }
}
