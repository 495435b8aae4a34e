import { definePlugin, job, payload, provide, route, singleton } from '../../kernel/index.js';
import { Engine } from '../engine/contract.js';
import { ServerStatus } from './contract.js';
import { Machine } from './machine.js';
import { StatusReply, StatusReport } from './status.js';

export default definePlugin({
  name: 'server-status',
  version: '0.1.0',
  api: 1,
  about: 'Tells how the machine and the core are doing.',
  uses: { engine: Engine },
  services: { machine: singleton(Machine), report: singleton(StatusReport) },
  provides: ({ report }) => [provide(ServerStatus, report)],
  routes: ({ report }) => [
    route({
      method: 'GET',
      path: '/panel/api/server/status',
      name: 'server.status',
      doc: 'Load, memory, disk, network and the state of the core.',
      reply: payload(StatusReply),
      handle: () => report.status(),
    }),
  ],
  jobs: ({ machine }) => [job('sample', '2s', async () => void (await machine.sample()))],
});
