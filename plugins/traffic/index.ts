import { definePlugin, extend, job, provide, singleton, tap } from '../../kernel/index.js';
import { afterClientSave, Clients, PresenceSources } from '../clients/contract.js';
import { beforeCoreStop, coreStateChanged, Engine } from '../engine/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { afterBaselines, Baselines } from './baselines.js';
import { Presence } from './contract.js';
import { OnlineClients, POLL_MS } from './online.js';
import { Poll } from './poll.js';
import { routes } from './routes.js';
import { migrations } from './tables.js';

export default definePlugin({
  name: 'traffic',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'Counts what clients move, once, and switches them off at their limits.',
  uses: { engine: Engine, clients: Clients, inbounds: Inbounds },
  migrations,
  services: { baselines: singleton(Baselines), online: singleton(OnlineClients), poll: singleton(Poll) },
  provides: ({ online }) => [provide(Presence, online)],
  extends: ({ online }) => [extend(PresenceSources, online)],
  hooks: ({ poll, baselines, online }) => [
    tap(beforeCoreStop, () => poll.run()),
    tap(afterBaselines, (readings) => baselines.apply(readings)),
    tap(coreStateChanged, ({ to }) => {
      if (to !== 'running') online.clear();
    }),
    tap(afterClientSave, ({ changes }) => {
      for (const { kind, before } of changes) if (kind === 'deleted' && before) baselines.forget(before.id, before.inboundIds);
    }),
  ],
  routes,
  jobs: ({ poll }) => [job('poll', `${POLL_MS}ms`, () => poll.run())],
  start: ({ baselines }) => baselines.load(),
});
