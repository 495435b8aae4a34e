import { definePlugin, int, payload, route, shape, singleton, text } from '@weir-panel/weir/kernel';
import { Processes } from '@weir-panel/weir/plugins/processes';
import { Sidecar } from './sidecar.js';

export default definePlugin({
  name: 'acme-sidecar',
  version: '1.0.0',
  api: 1,
  about: 'Runs a program beside the panel.',
  uses: { processes: Processes },
  services: { sidecar: singleton(Sidecar) },
  start: ({ sidecar }) => sidecar.start(),
  routes: ({ sidecar }) => [
    route({
      method: 'GET',
      path: '/panel/api/x/acme-sidecar/state',
      doc: 'Returns whether the program runs.',
      reply: payload(shape({ state: text(), pid: int(), reason: text() })),
      handle: () => sidecar.describe(),
    }),
  ],
});
