import { definePlugin, job, singleton, tap } from '../../kernel/index.js';
import { afterClientSave, Clients } from '../clients/contract.js';
import { beforeCoreStop, Engine } from '../engine/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { afterBaselines, Baselines } from './baselines.js';
import { Poll } from './poll.js';
import { migrations } from './tables.js';

export default definePlugin({
  name: 'traffic',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'Counts what clients move, once, and switches them off at their limits.',
  uses: { engine: Engine, clients: Clients, inbounds: Inbounds },
  migrations,
  services: { baselines: singleton(Baselines), poll: singleton(Poll) },
  hooks: ({ poll, baselines }) => [
    tap(beforeCoreStop, () => poll.run()),
    tap(afterBaselines, (readings) => baselines.apply(readings)),
    tap(afterClientSave, ({ changes }) => {
      for (const { kind, before } of changes) if (kind === 'deleted' && before) baselines.forget(before.id, before.inboundIds);
    }),
  ],
  jobs: ({ poll }) => [job('poll', '5s', () => poll.run())],
  start: ({ baselines }) => baselines.load(),
});
