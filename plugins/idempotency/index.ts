import { contribute, definePlugin, job, provide, Replays, singleton } from '../../kernel/index.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { CallStore } from './call-store.js';
import { IdempotentCalls } from './calls.js';
import { migrations, sealedReply, tables } from './tables.js';

export default definePlugin({
  name: 'idempotency',
  version: '0.1.0',
  api: 1,
  about: 'Keeps replies for a day, so that a call with an Idempotency-Key can be repeated and is done once.',
  tables,
  migrations,
  uses: { secrets: Secrets },
  services: { store: singleton(CallStore), calls: singleton(IdempotentCalls) },
  contributes: () => [contribute(SealedColumns, sealedReply)],
  provides: ({ calls }) => [provide(Replays, calls)],
  jobs: ({ calls }) => [job('expired', { every: '1h', jitter: '5m' }, () => calls.sweep())],
});
