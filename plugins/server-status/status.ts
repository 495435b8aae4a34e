// Status of machine and core in one reply.
import { type Clock, int, list, num, oneOf, shape, type Static, text } from '../../kernel/index.js';
import type { EngineApi } from '../engine/contract.js';
import type { ServerStatusApi } from './contract.js';
import type { Machine } from './machine.js';

const share = shape({ current: int().min(0), total: int().min(0) });
export const StatusReply = shape({
  cpu: num(),
  logicalPro: int(),
  mem: share,
  swap: share,
  disk: share,
  netIO: shape({ up: int().min(0), down: int().min(0) }),
  netTraffic: shape({ sent: int().min(0), recv: int().min(0) }),
  tcpCount: int().min(0),
  udpCount: int().min(0),
  uptime: int().min(0),
  load: shape({ load1: num(), load5: num(), load15: num() }),
  loads: list(num()),
  engine: shape({ state: oneOf('running', 'stop', 'error'), errorMsg: text(), version: text() }),
  appStats: shape({ mem: int().min(0), uptime: int().min(0) }),
});

export class StatusReport implements ServerStatusApi {
  readonly #machine: Machine;
  readonly #engine: EngineApi;
  readonly #clock: Clock;

  constructor({ machine, engine, clock }: { machine: Machine; engine: EngineApi; clock: Clock }) {
    this.#machine = machine;
    this.#engine = engine;
    this.#clock = clock;
  }

  async status(): Promise<Static<typeof StatusReply>> {
    const { state, errorMsg, version, startedAt } = this.#engine.status();
    const uptime = startedAt === 0 ? 0 : Math.max(0, Math.floor((this.#clock.now() - startedAt) / 1000));
    return {
      ...(await this.#machine.status()),
      engine: { state, errorMsg, version },
      appStats: { mem: process.memoryUsage.rss(), uptime },
    };
  }
}
