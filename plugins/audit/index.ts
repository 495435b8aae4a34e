// Who changed what, when and from where: written with the change itself, and chained by hashes.
import { contribute, definePlugin, job, provide, singleton, tap } from '../../kernel/index.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { ChainHead } from './chain-head.js';
import { ChainKey } from './chain-key.js';
import { commands } from './commands.js';
import { AuditTrail } from './contract.js';
import { AuditList } from './list.js';
import { KeptStore } from './kept-store.js';
import { Recorder } from './recorder.js';
import { Retention } from './retention.js';
import { routes } from './routes.js';
import { auditSettings } from './settings.js';
import { migrations, sealedKept, sealedKey, tables } from './tables.js';
import { Trail } from './trail.js';
import { Undo } from './undo.js';
import { Undoing } from './undoing.js';
import { Verification } from './verification.js';

export default definePlugin({
  name: 'audit',
  version: '0.1.0',
  api: 1,
  about: 'Records who changed what, in the transaction of the change, chained by hashes.',
  uses: { secrets: Secrets },
  settings: auditSettings,
  tables,
  migrations,
  services: {
    chainKey: singleton(ChainKey),
    head: singleton(ChainHead),
    keptStore: singleton(KeptStore),
    undoing: singleton(Undoing),
    undo: singleton(Undo),
    recorder: singleton(Recorder),
    auditList: singleton(AuditList),
    retention: singleton(Retention),
    verification: singleton(Verification),
    trail: singleton(Trail),
  },
  contributes: () => [contribute(SealedColumns, sealedKey), contribute(SealedColumns, sealedKept)],
  provides: ({ trail }) => [provide(AuditTrail, trail)],
  taps: ({ recorder }) =>
    recorder.hooks().map(({ hook, record }) => tap(hook, record as never, { strict: true })),
  commands,
  routes,
  jobs: ({ retention, keptStore, head, log }) => [
    job('remove', '1h', async () => {
      await retention.run();
      await keptStore.sweep();
    }),
    // The log is another place than the database: its line is what `weir audit verify --head` takes.
    job('head', '1d', () => {
      const { id = 0, hash = '' } = head.written ?? {};
      if (id > 0) log.info('the newest entry of the record of changes', { head: `${id}:${hash}` });
    }),
  ],
  start: async ({ chainKey, keptStore, head }) => {
    await chainKey.start();
    await keptStore.start();
    head.isReady = true;
  },
});
