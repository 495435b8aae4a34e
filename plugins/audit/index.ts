// Who changed what, when and from where: written with the change itself, and chained by hashes.
import { contribute, definePlugin, job, singleton, tap } from '../../kernel/index.js';
import { loginAttempted } from '../access/contract.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { ChainHead } from './chain-head.js';
import { ChainKey } from './chain-key.js';
import { commands } from './commands.js';
import { AuditedHooks } from './contract.js';
import { AuditList } from './list.js';
import { clients, groups } from './recorded/clients.js';
import { certificates, coreTemplate, fallbacks, hosts, inbounds } from './recorded/connections.js';
import { admins, settings, tokens } from './recorded/panel.js';
import { externalLinks, subBalancers } from './recorded/subscriptions.js';
import { Recorder } from './recorder.js';
import { Retention } from './retention.js';
import { routes } from './routes.js';
import { auditSettings } from './settings.js';
import { SignIns } from './sign-ins.js';
import { migrations, sealedKey, tables } from './tables.js';
import { Verification } from './verification.js';

const RECORDED = [
  ...[admins, tokens, settings, inbounds, clients, groups, hosts],
  ...[fallbacks, externalLinks, subBalancers, coreTemplate, certificates],
];

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
    recorder: singleton(Recorder),
    auditList: singleton(AuditList),
    retention: singleton(Retention),
    verification: singleton(Verification),
    signIns: singleton(SignIns),
  },
  contributes: () => [
    contribute(SealedColumns, sealedKey),
    ...RECORDED.map((entry) => contribute(AuditedHooks, entry)),
  ],
  taps: ({ recorder, signIns }) => [
    ...recorder.hooks().map(({ hook, record }) => tap(hook, record as never, { strict: true })),
    tap(loginAttempted, ({ attempts }) => signIns.record(attempts)),
  ],
  commands,
  routes,
  jobs: ({ retention }) => [job('remove', '1h', () => retention.run())],
  start: async ({ chainKey, head }) => {
    await chainKey.start();
    head.isReady = true;
  },
});
