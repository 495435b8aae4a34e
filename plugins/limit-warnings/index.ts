// Warnings before the end of a quota or of a time: once each, to the admins and to the client.
import { contribute, definePlugin, job, singleton, tap } from '../../kernel/index.js';
import { afterClientSave, type ClientChange, Clients, duringClientSave } from '../clients/contract.js';
import { othersWrote } from '../cluster/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { countedInPanels, trafficCounted } from '../traffic/contract.js';
import { duringLimitWarning } from './contract.js';
import { LimitWarnings } from './limit-warnings.js';
import { expiryNear, quotaNear } from './notified.js';
import { warningSettings } from './settings.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'limit-warnings',
  version: '0.1.0',
  api: 1,
  about: 'Warns once before a client reaches its quota or its expiry.',
  uses: { clients: Clients },
  hooks: [duringLimitWarning],
  settings: warningSettings,
  tables,
  migrations,
  services: { warnings: singleton(LimitWarnings) },
  contributes: () => [contribute(NotifiedEvents, quotaNear), contribute(NotifiedEvents, expiryNear)],
  taps: ({ warnings, settings }) => [
    tap(trafficCounted, ({ usage }) => warnings.counted(usage), { missed: () => warnings.lookAtAll() }),
    // Warnings are the leader's, also for whom a core of another panel serves.
    tap(countedInPanels, ({ clientIds }) => warnings.counted(clientIds.map((clientId) => ({ clientId }))), {
      missed: () => warnings.lookAtAll(),
    }),
    tap(duringClientSave, ({ changes }, tx) => warnings.changed(tx, changes)),
    tap(othersWrote, async ({ told }) => {
      const ids = told
        .filter(({ hook }) => hook === afterClientSave.id)
        .flatMap(({ payload }) => (payload as { readonly changes: readonly ClientChange[] }).changes)
        .flatMap(({ before, after }) => after?.id ?? before?.id ?? []);
      if (ids.length > 0) await warnings.changedElsewhere(ids);
    }),
    settings.changed(() => warnings.lookAtAll()),
  ],
  jobs: ({ warnings }) => [job('warn', '5s', (signal) => warnings.run(signal))],
  start: ({ warnings }) => warnings.start(),
});
