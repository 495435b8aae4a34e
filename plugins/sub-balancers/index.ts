// Balancers: one more document of the JSON subscription each, in which the core chooses among the entries of several inbounds.
import { contribute, definePlugin, singleton, tap } from '../../kernel/index.js';
import { ArchiveParts } from '../archive/contract.js';
import { AuditedHooks } from '../audit/contract.js';
import { duringInboundSave, Inbounds } from '../inbounds/contract.js';
import { LiveTypes } from '../realtime/contract.js';
import { DocumentGroupSources } from '../sub-json/contract.js';
import { duringBalancerSave } from './contract.js';
import { balancersPart } from './archive-part.js';
import { BalancerStore } from './balancer-store.js';
import { LiveNews } from './live-news.js';
import { subBalancers } from './recorded.js';
import { routes } from './routes.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'sub-balancers',
  version: '0.1.0',
  api: 1,
  about: 'Balancers in the JSON subscription: the client program chooses among several inbounds.',
  uses: { inbounds: Inbounds },
  hooks: [duringBalancerSave],
  tables,
  migrations,
  services: { store: singleton(BalancerStore), news: singleton(LiveNews) },
  contributes: ({ store, news }) => [
    contribute(ArchiveParts, balancersPart(store)),
    contribute(AuditedHooks, subBalancers),
    contribute(DocumentGroupSources, { groups: () => store.groups() }),
    contribute(LiveTypes, { type: 'sub-balancers', start: (output) => void (news.output = output) }),
  ],
  taps: ({ store }) => [
    tap(duringInboundSave, ({ changes }, tx) =>
      store.inboundsDeleted(
        tx,
        changes.flatMap(({ before, after }) => (before && !after ? before.id : [])),
      ),
    ),
  ],
  routes,
});
