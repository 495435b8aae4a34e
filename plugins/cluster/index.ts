import {
  afterKernelOpen,
  Cluster,
  composeStartupSummary,
  contribute,
  definePlugin,
  int,
  Jobs,
  job,
  Listeners,
  maybe,
  oneOf,
  optional,
  Projections,
  provide,
  RouteAdapters,
  singleton,
  stage,
  tap,
  variable,
  withDefault,
  word,
} from '../../kernel/index.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { PanelProgram } from '../system/contract.js';
import { AmongOthers } from './among-others.js';
import { ChangeLog } from './change-log.js';
import { beforeLeadEnds, OldestBeside, othersWrote, PanelLeaving, Panels, SharedClock } from './contract.js';
import { Drain } from './drain.js';
import { Figures } from './figures.js';
import { Leadership } from './leadership.js';
import { lookingFirst } from './looking-first.js';
import { Member } from './member.js';
import { Readiness, readyRoute } from './readiness.js';
import { Roll } from './roll.js';
import { RunningJobs } from './running-jobs.js';
import { migrations, sealedChange, tables } from './tables.js';

export default definePlugin({
  name: 'cluster',
  version: '0.1.0',
  api: 1,
  // Without it, several panels would overwrite what the others write.
  essential: true,
  about: 'Lets several panels share one database on MySQL or MariaDB.',
  config: {
    name: variable(
      'WEIR_CLUSTER',
      optional(word().pattern(/^[a-z0-9][a-z0-9-]{0,31}$/, 'small letters, digits and hyphens, at most 32')),
      'name of this panel among several on one database; each needs a name and a data folder of its own, and the same WEIR_SECRET_KEY',
    ),
    core: variable(
      'WEIR_CLUSTER_CORE',
      withDefault(oneOf('leader', 'own'), 'leader'),
      'own: this panel runs a core on its machine, whoever leads; leader: only while it leads',
    ),
    drain: variable(
      'WEIR_DRAIN',
      optional(int().min(0).max(600)),
      'for how many seconds a panel that stops still answers, while `readyz` sends load balancers elsewhere; by default 5 beside other panels, and 0 without',
    ),
  },
  tables,
  migrations,
  uses: {
    secrets: Secrets,
    projections: Projections,
    jobs: Jobs,
    listeners: Listeners,
    sharedClock: maybe(SharedClock),
    leaving: maybe(PanelLeaving),
    oldest: maybe(OldestBeside),
    program: maybe(PanelProgram),
  },
  services: {
    roll: singleton(Roll),
    runningJobs: singleton(RunningJobs),
    leadership: singleton(Leadership),
    changes: singleton(ChangeLog),
    figures: singleton(Figures),
    member: singleton(Member),
    readiness: singleton(Readiness),
    drain: singleton(Drain),
  },
  hooks: [othersWrote, beforeLeadEnds],
  contributes: ({ config, member }) => [
    contribute(SealedColumns, sealedChange),
    ...(config.name === undefined ? [] : [contribute(RouteAdapters, lookingFirst(member))]),
  ],
  provides: ({ config: { name, core }, member, roll }) =>
    name === undefined
      ? [provide(Panels, { leads: true, count: 1, others: [], number: 0, name: '', hasOwnCore: false })]
      : [
          provide(Cluster, member),
          provide(Panels, new AmongOthers({ name, hasOwnCore: core === 'own' }, member, roll)),
        ],
  routes: ({ readiness }) => [readyRoute(readiness)],
  taps: ({ config, member, readiness }) => [
    tap(afterKernelOpen, () => readiness.open(), { stage: stage.LAST }),
    ...(config.name === undefined
      ? []
      : [
          tap(afterKernelOpen, () => member.open(), { stage: stage.FIRST }),
          tap(composeStartupSummary, (add) => add({ cluster: config.name, leads: member.leads })),
        ]),
  ],
  jobs: ({ config, changes }) => (config.name === undefined ? [] : [job('trim', '1m', () => changes.trim())]),
  start: async ({ config, member, program, log, leaving, drain, roll, oldest }) => {
    if (leaving) leaving.run = drain.run;
    if (config.name === undefined) return;
    member.onEnd = (reason) => {
      if (program) program.startAnew(reason);
      else log.error('restart this panel: no program around it can', { reason });
    };
    await member.compareClock();
    await roll.count();
    if (oldest) await roll.refuseOlder(oldest.version);
  },
  stop: ({ config, member }) => (config.name === undefined ? undefined : member.close()),
});
