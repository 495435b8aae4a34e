// Bulk work on clients by filter, as jobs of the server.
import { contribute, definePlugin, job, kernelReady, maybe, singleton, tap } from '../../kernel/index.js';
import { beforeLeadEnds, inTime, othersWrote } from '../cluster/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { ClientPortions } from '../clients/contract.js';
import { LiveTypes } from '../realtime/contract.js';
import { JobRunner } from './job-runner.js';
import { JobService } from './job-service.js';
import { JobStore } from './job-store.js';
import { JobTargets } from './job-targets.js';
import { LiveJobs } from './live-jobs.js';
import { Retention } from './retention.js';
import { routes } from './routes.js';
import { bulkJobSettings } from './settings.js';
import { SkippedClients } from './skipped-clients.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'bulk-jobs',
  version: '0.1.0',
  api: 1,
  about: 'Changes all clients of a filter, as jobs that go on after a reload, a restart and a crash.',
  uses: { portions: ClientPortions, audit: maybe(AuditTrail) },
  settings: bulkJobSettings,
  tables,
  migrations,
  services: {
    store: singleton(JobStore),
    targets: singleton(JobTargets),
    skipped: singleton(SkippedClients),
    live: singleton(LiveJobs),
    runner: singleton(JobRunner),
    service: singleton(JobService),
    retention: singleton(Retention),
  },
  contributes: ({ live }) => [contribute(LiveTypes, live.type)],
  taps: ({ runner }) => [
    tap(kernelReady, () => runner.start()),
    // Of several panels, one does the jobs that all of them take.
    tap(othersWrote, () => runner.wake()),
    tap(beforeLeadEnds, () => inTime(runner.stop())),
  ],
  routes,
  jobs: ({ retention }) => [job('remove', '1h', (signal) => retention.run(signal))],
  stop: ({ runner }) => runner.stop(),
});
