import {
  afterKernelLead,
  afterPluginStart,
  beforeKernelStop,
  contribute,
  definePlugin,
  job,
  kernelReady,
  maybe,
  oneOf,
  provide,
  singleton,
  tap,
  variable,
  withDefault,
} from '../../kernel/index.js';
import { beforeLeadEnds, inTime, Panels } from '../cluster/contract.js';
import { ProgramUsers } from '../clients/contract.js';
import { UserServers } from '../engine/contract.js';
import { afterInboundSave, LocalInbounds } from '../inbounds/contract.js';
import { Invariants } from '../invariants/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { Processes } from '../processes/contract.js';
import { CounterSources, Counting } from '../traffic/contract.js';
import { RunningSidecars } from './contract.js';
import { Downloads } from './download.js';
import { programsHaveUsers } from './invariants.js';
import { routes } from './routes.js';
import { Runners } from './runners.js';

export default definePlugin({
  name: 'sidecars',
  version: '0.1.0',
  api: 1,
  about: 'Runs the programs of inbounds that the core does not speak, with their users, limits and counters.',
  config: {
    install: variable(
      'WEIR_SIDECARS_INSTALL',
      withDefault(oneOf('on', 'off'), 'on'),
      'off: never download a program that runs inbounds beside the core',
    ),
  },
  uses: {
    processes: Processes,
    inbounds: LocalInbounds,
    users: ProgramUsers,
    counting: Counting,
    outgoing: maybe(Outgoing),
    panels: maybe(Panels),
  },
  services: { downloads: singleton(Downloads), runners: singleton(Runners) },
  provides: ({ runners }) => [provide(RunningSidecars, runners)],
  contributes: ({ runners, downloads }) => [
    contribute(UserServers, runners),
    contribute(CounterSources, runners),
    contribute(OutgoingHosts, downloads.access),
    contribute(
      Invariants,
      programsHaveUsers(() => runners.compared()),
    ),
  ],
  taps: ({ runners }) => [
    // All sidecars have started. Later, when the panel is ready, processes of the previous panel would be stopped as unwanted.
    tap(afterKernelLead, async () => {
      await runners.open(false);
      void runners.fetchMissing();
    }),
    tap(kernelReady, () => runners.removeLeft()),
    tap(afterPluginStart, () => runners.open(false)),
    tap(afterInboundSave, ({ changes }) => runners.inboundsChanged(changes)),
    tap(beforeLeadEnds, () => inTime(runners.close(false))),
    tap(beforeKernelStop, ({ again }) => runners.close(again === true)),
  ],
  routes,
  jobs: ({ runners }) => [job('retry', '5s', () => runners.retry())],
});
