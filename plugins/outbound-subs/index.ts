// Outbounds of the core from lists elsewhere, fetched again and again.
import {
  contribute,
  definePlugin,
  job,
  maybe,
  provide,
  singleton,
  stage,
  tap,
  validate,
} from '../../kernel/index.js';
import { ArchiveParts } from '../archive/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { CoreTemplate } from '../core-template/contract.js';
import { composeCoreConfig, CoreOutbounds, Engine } from '../engine/contract.js';
import { LinkReader } from '../link-reader/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { LiveTypes } from '../realtime/contract.js';
import { OutboundSubEdits } from './contract.js';
import { subsPart } from './archive-part.js';
import { CoreParts } from './core-parts.js';
import { SentSub } from './fields.js';
import { ListFetcher } from './list-fetcher.js';
import { ListReader } from './list-reader.js';
import { LiveNews } from './live-news.js';
import { Refresher } from './refresher.js';
import { routes } from './routes.js';
import { Schedule } from './schedule.js';
import { SubService } from './sub-service.js';
import { SubStore } from './sub-store.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'outbound-subs',
  version: '0.1.0',
  api: 1,
  about: 'Subscriptions to lists of outbounds: fetched, tested by the core, and part of its config.',
  uses: {
    engine: Engine,
    outbounds: CoreOutbounds,
    reader: LinkReader,
    outgoing: Outgoing,
    template: maybe(CoreTemplate),
    audit: maybe(AuditTrail),
  },
  tables,
  migrations,
  services: {
    store: singleton(SubStore),
    news: singleton(LiveNews),
    parts: singleton(CoreParts),
    fetcher: singleton(ListFetcher),
    lists: singleton(ListReader),
    refresher: singleton(Refresher),
    schedule: singleton(Schedule),
    service: singleton(SubService),
  },
  provides: ({ store, service }) => [
    provide(OutboundSubEdits, {
      urls: () => store.list().map(({ url }) => url),
      add: async (sub, who) => void (await service.create(validate(SentSub, sub), who)),
      check: (sub) => service.check(validate(SentSub, sub)),
    }),
  ],
  contributes: ({ fetcher, news, store, service }) => [
    contribute(ArchiveParts, subsPart({ store, service })),
    contribute(OutgoingHosts, fetcher.access),
    contribute(LiveTypes, { type: 'outbound-subs', start: (output) => void (news.output = output) }),
  ],
  taps: ({ parts }) => [
    tap(composeCoreConfig, (add) => add(...parts.standard())),
    tap(composeCoreConfig, (add) => add(...parts.others()), { stage: stage.LAST }),
  ],
  jobs: ({ schedule }) => [job('refresh', '1m', (signal) => schedule.run(signal))],
  routes,
});
