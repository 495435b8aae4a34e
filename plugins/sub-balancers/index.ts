// Balancers: one more document of the JSON subscription each, in which the core chooses among the entries of several inbounds.
import { contribute, definePlugin, provide, singleton, tap, validate } from '../../kernel/index.js';
import { ArchiveParts } from '../archive/contract.js';
import { AuditedHooks, recordUndoer, Undoers } from '../audit/contract.js';
import { duringInboundSave, Inbounds } from '../inbounds/contract.js';
import { LiveTypes } from '../realtime/contract.js';
import { DocumentGroupSources } from '../sub-json/contract.js';
import { BalancerEdits, duringBalancerSave } from './contract.js';
import { balancersPart } from './archive-part.js';
import { BalancerStore, editedOf } from './balancer-store.js';
import { changedFields } from './checked.js';
import { type Balancer, SentBalancer } from './fields.js';
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
  provides: ({ store, news, inbounds }) => [
    provide(BalancerEdits, {
      list: () => store.list(),
      add: async (balancer, who) => {
        const fields = changedFields(validate(SentBalancer, balancer));
        inbounds.require(fields.inboundIds, 'inboundIds');
        await store.add(fields, who);
        news.changed();
      },
      check: (balancer) => void changedFields(validate(SentBalancer, balancer)),
    }),
  ],
  contributes: ({ store, news, inbounds }) => [
    contribute(ArchiveParts, balancersPart(store)),
    contribute(AuditedHooks, subBalancers),
    contribute(
      Undoers,
      recordUndoer<Balancer>(subBalancers, {
        facts: editedOf,
        find: (id) => store.list().find((one) => one.id === Number(id)),
        set: async (id, fields, who) => {
          const sent = validate(SentBalancer, fields);
          if (sent.inboundIds) inbounds.require(sent.inboundIds, 'inboundIds');
          await store.update(Number(id), (before) => changedFields(sent, before), who);
          news.changed();
        },
        remake: async (id, fields, who) => {
          const sent = changedFields(validate(SentBalancer, fields));
          inbounds.require(sent.inboundIds, 'inboundIds');
          await store.add({ ...sent, id: Number(id) }, who);
          news.changed();
        },
      }),
    ),
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
