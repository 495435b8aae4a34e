import { definePlugin, job, singleton, tap } from '../../kernel/index.js';
import { Clients, duringClientSave } from '../clients/contract.js';
import { Settings } from '../settings/contract.js';
import { duringTrafficCount } from '../traffic/contract.js';
import { routes } from './routes.js';
import { usageSettings } from './settings.js';
import { migrations, tables } from './tables.js';
import { UsageDays } from './usage-days.js';
import { UsageJournal } from './usage-journal.js';

export default definePlugin({
  name: 'usage-by-day',
  version: '0.1.0',
  api: 1,
  about: 'Stores how many bytes each client moved on each day.',
  uses: { clients: Clients, panel: Settings },
  settings: usageSettings,
  tables,
  migrations,
  services: { journal: singleton(UsageJournal), days: singleton(UsageDays) },
  taps: ({ days }) => [
    tap(duringTrafficCount, ({ at, usage }, tx) => days.count(tx, at, usage)),
    tap(duringClientSave, async ({ changes }, tx) => {
      const deleted = changes.flatMap(({ kind, before }) => (kind === 'deleted' && before ? before.id : []));
      if (deleted.length > 0) await days.noteDeleted(tx, deleted);
      const returned = changes.flatMap(({ returns, after }) => (returns && after ? after.id : []));
      if (returned.length > 0) await days.noteReturned(tx, returned);
    }),
  ],
  routes,
  jobs: ({ journal, days }) => [
    job('move', '1m', (signal) => journal.move(signal)),
    job('prune', '1h', async (signal) => {
      // Before deleted clients are forgotten: what is still in the journal may be theirs.
      await journal.move(signal);
      await days.forgetDeleted(signal);
      await days.prune(signal);
    }),
  ],
});
