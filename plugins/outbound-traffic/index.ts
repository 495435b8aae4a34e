import {
  contribute,
  definePlugin,
  everywhere,
  job,
  maybe,
  provide,
  singleton,
  tap,
} from '../../kernel/index.js';
import { AuditTrail } from '../audit/contract.js';
import { Panels } from '../cluster/contract.js';
import { beforeCoreStop, beforeCountersGo, CoreOutbounds, Engine } from '../engine/contract.js';
import { LiveTypes, OutboundSources } from '../realtime/contract.js';
import { OutboundCounts } from './contract.js';
import { CoreReadings } from './core-readings.js';
import { OutboundRows } from './outbound-rows.js';
import { OutboundPoll } from './poll.js';
import { routes } from './routes.js';
import { OutboundStore } from './store.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'outbound-traffic',
  version: '0.1.0',
  api: 1,
  about: 'Counts the bytes of outbounds, each once.',
  uses: { engine: Engine, outbounds: CoreOutbounds, audit: maybe(AuditTrail), panels: maybe(Panels) },
  tables,
  migrations,
  services: {
    rows: singleton(OutboundRows),
    readings: singleton(CoreReadings),
    store: singleton(OutboundStore),
    poll: singleton(OutboundPoll),
  },
  provides: ({ store, poll }) => [
    provide(OutboundCounts, {
      counted: (tag) => store.counted(tag),
      adopt: (counts, who) => poll.adopt(counts, who),
    }),
  ],
  contributes: ({ store }) => [
    contribute(LiveTypes, {
      type: 'outbounds',
      snapshot: () => store.shown(),
      start: (output) => void (store.live = output),
    }),
    contribute(OutboundSources, { take: () => store.take() }),
  ],
  taps: ({ poll }) => [
    tap(beforeCoreStop, () => poll.run()),
    tap(beforeCountersGo, ({ counters }) => poll.last(counters)),
  ],
  routes,
  // Each panel counts its own core.
  jobs: ({ poll }) => [everywhere(job('poll', '5s', () => poll.run()))],
});
