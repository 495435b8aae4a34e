import { definePlugin, job, provide, Replays, singleton } from '../../kernel/index.js';
import { IdempotentCalls } from './calls.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'idempotency',
  version: '0.1.0',
  api: 1,
  about: 'Keeps replies for a day, so that a call with an Idempotency-Key can be repeated and is done once.',
  tables,
  migrations,
  services: { calls: singleton(IdempotentCalls) },
  provides: ({ calls }) => [provide(Replays, calls)],
  jobs: ({ calls }) => [job('expired', { every: '1h', jitter: '5m' }, () => calls.sweep())],
});
