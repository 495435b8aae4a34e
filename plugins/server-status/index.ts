import { definePlugin, int, job, list, num, oneOf, payload, route, shape, singleton, text } from '../../kernel/index.js';
import { Engine } from '../engine/contract.js';
import { Machine } from './machine.js';

const share = shape({ current: int().min(0), total: int().min(0) });
const Status = shape({
  cpu: num(), logicalPro: int(), mem: share, swap: share, disk: share,
  netIO: shape({ up: int().min(0), down: int().min(0) }), netTraffic: shape({ sent: int().min(0), recv: int().min(0) }),
  tcpCount: int().min(0), udpCount: int().min(0), uptime: int().min(0), load: shape({ load1: num(), load5: num(), load15: num() }), loads: list(num()),
  engine: shape({ state: oneOf('running', 'stop', 'error'), errorMsg: text(), version: text() }),
  appStats: shape({ mem: int().min(0), uptime: int().min(0) }),
});

export default definePlugin({
  name: 'server-status',
  version: '0.1.0',
  api: 1,
  about: 'Tells how the machine and the core are doing.',
  uses: { engine: Engine },
  services: { machine: singleton(Machine) },
  routes: ({ machine, engine, clock }) => [
    route({
      method: 'GET', path: '/panel/api/server/status', doc: 'Load, memory, disk, network and the state of the core.',
      reply: payload(Status),
      handle: async () => {
        const { state, errorMsg, version, startedAt } = engine.status();
        return { ...(await machine.status()), engine: { state, errorMsg, version }, appStats: { mem: process.memoryUsage.rss(), uptime: startedAt === 0 ? 0 : Math.max(0, Math.floor((clock.now() - startedAt) / 1000)) } };
      },
    }),
  ],
  jobs: ({ machine }) => [job('sample', '2s', async () => void (await machine.sample()))],
});
