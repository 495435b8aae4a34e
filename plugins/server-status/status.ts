// Status of machine, core and panel in one reply.
import { bool, type Clock, int, list, num, oneOf, shape, type Static, text } from '../../kernel/index.js';
import type { CoreShownApi, EngineApi } from '../engine/contract.js';
import type { LocalInboundsApi } from '../inbounds/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { RunningSidecarsApi } from '../sidecars/contract.js';
import type { ServerStatusApi } from './contract.js';
import type { Machine } from './machine.js';
import { readProc } from './read-proc.js';

/** The version of the panel: that of its package. */
export const VERSION = '0.1.0';

const count = () => int().min(0);
const share = shape({ current: count(), total: count() });
export const StatusReply = shape({
  cpu: num().description('percent, smoothed'),
  cpuCores: int().min(0).description('physical cores'),
  logicalPro: int().min(0),
  cpuSpeedMhz: num().min(0).description('0: unknown'),
  mem: share,
  swap: share,
  disk: share,
  diskIO: shape({ read: count(), write: count() }).description('bytes a second'),
  diskTraffic: shape({ read: count(), write: count() }).description('bytes since the machine started'),
  netIO: shape({ up: count(), down: count(), pktUp: count(), pktDown: count() }).description(
    'bytes and packets a second',
  ),
  netTraffic: shape({ sent: count(), recv: count(), pktSent: count(), pktRecv: count() }).description(
    'bytes and packets since the machine started',
  ),
  tcpCount: count(),
  udpCount: count(),
  publicIP: shape({ ipv4: text(), ipv6: text() }).description(
    'public addresses of the interfaces of this machine; N/A where it has none, as behind NAT',
  ),
  uptime: count().description('of the machine, in seconds'),
  load: shape({ load1: num(), load5: num(), load15: num() }),
  loads: list(num()),
  engine: shape({
    state: oneOf('running', 'stop', 'error'),
    errorMsg: text(),
    version: text(),
    usersOnTheWay: count(),
    memory: shape({ bytes: count(), limit: count(), isHigh: bool() }).description(
      'memory of its process in bytes, and the limit above which it is high; 0: unknown, or no limit',
    ),
  }),
  amneziawg: shape({ configured: bool(), running: bool() }).description(
    'whether an inbound of this protocol is enabled, and whether a program serves one',
  ),
  appStats: shape({ threads: count(), mem: count(), uptime: count() }).description(
    'threads and memory of the panel; uptime of the core in seconds',
  ),
  panelVersion: text(),
  panelGuid: text(),
});

const threads = async (): Promise<number> =>
  Number(/^Threads:\s+(\d+)/m.exec(await readProc('self/status'))?.[1] ?? 1);

export class StatusReport implements ServerStatusApi {
  readonly #machine: Machine;
  readonly #engine: CoreShownApi;
  readonly #inbounds: LocalInboundsApi | undefined;
  readonly #sidecars: RunningSidecarsApi | undefined;
  readonly #identity: PanelIdentityApi;
  readonly #clock: Clock;

  constructor(parts: {
    machine: Machine;
    engine: EngineApi;
    core?: CoreShownApi | undefined;
    inbounds: LocalInboundsApi | undefined;
    sidecars: RunningSidecarsApi | undefined;
    identity: PanelIdentityApi;
    clock: Clock;
  }) {
    this.#machine = parts.machine;
    this.#engine = parts.core ?? parts.engine;
    this.#inbounds = parts.inbounds;
    this.#sidecars = parts.sidecars;
    this.#identity = parts.identity;
    this.#clock = parts.clock;
  }

  async status(): Promise<Static<typeof StatusReply>> {
    const { state, errorMsg, version, startedAt, usersOnTheWay, memory } = this.#engine.status();
    const uptime = startedAt === 0 ? 0 : Math.max(0, Math.floor((this.#clock.now() - startedAt) / 1000));
    return {
      ...(await this.#machine.status()),
      engine: { state, errorMsg, version, usersOnTheWay, memory },
      amneziawg: {
        configured: (this.#inbounds?.list() ?? []).some(
          ({ enable, protocol }) => enable && protocol === 'amneziawg',
        ),
        running: (this.#sidecars?.instances('amneziawg') ?? []).some(({ state }) => state === 'running'),
      },
      appStats: { threads: await threads(), mem: process.memoryUsage.rss(), uptime },
      panelVersion: VERSION,
      panelGuid: this.#identity.guid,
    };
  }
}
