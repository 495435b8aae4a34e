import { contribute, definePlugin, provide, singleton, stage, tap } from '../../kernel/index.js';
import { ArchiveParts } from '../archive/contract.js';
import { AuditedHooks, type KeptChange, keptUpdate, undoer, Undoers } from '../audit/contract.js';
import { CoreGuard } from '../core-guard/contract.js';
import { describeResult, Engine } from '../engine/contract.js';
import {
  coreSettings,
  describeInbounds,
  afterInboundSave,
  beforeInboundSave,
  duringInboundSave,
  InboundEdits,
  Inbounds,
  LocalInbounds,
} from '../inbounds/contract.js';
import { inboundEntry, WaySources } from '../subscription/contract.js';
import { fallbacksPart } from './archive-part.js';
import { isHidden, throughMaster } from './child-entry.js';
import {
  duringFallbackSave,
  type Fallback,
  type FallbackChange,
  Fallbacks,
  type SentFallback,
} from './contract.js';
import { leadsOn, MASTERS, placeOf } from './fallback.js';
import { fallbacks } from './recorded.js';
import { routes } from './routes.js';
import { FallbackService } from './service.js';
import { FallbackStore } from './store.js';
import { migrations, tables } from './tables.js';

/** What an admin sets of one. */
const edited = ({
  masterId: _masterId,
  ...fallback
}: Omit<Fallback, 'id'> & { readonly id?: number }): object => {
  const { id: _id, ...fields } = fallback;
  return fields;
};

export default definePlugin({
  name: 'fallbacks',
  version: '0.1.0',
  api: 1,
  about: 'Sends connections of a foreign protocol on to other inbounds or servers.',
  // Not `Subscription`: fallbacks must be in memory before subscriptions are composed for the first time.
  uses: {
    engine: Engine,
    inbounds: Inbounds,
    localInbounds: LocalInbounds,
    edits: InboundEdits,
    guard: CoreGuard,
  },
  hooks: [duringFallbackSave],
  tables,
  migrations,
  services: { store: singleton(FallbackStore), service: singleton(FallbackService) },
  provides: ({ store, service, inbounds }) => [
    provide(Fallbacks, {
      isMaster: (protocol) => MASTERS.includes(protocol),
      of: (masterId) => store.of(masterId),
      destinationOf: (id) => {
        const inbound = inbounds.get(id);
        return inbound ? placeOf(inbound) : '';
      },
      mastersOf: (childId) => store.mastersOf(childId),
      replace: async (masterId, sent, who) => (await service.replace(masterId, sent, who)).applied,
    }),
  ],
  contributes: ({ service, store, inbounds }) => [
    contribute(ArchiveParts, fallbacksPart({ store, service, inbounds })),
    contribute(AuditedHooks, fallbacks),
    contribute(
      Undoers,
      undoer<FallbackChange>({
        area: fallbacks.area,
        keep: (changes) =>
          changes.map(({ masterId: id, before, after }) =>
            keptUpdate({ id, name: '' }, { fallbacks: before.map(edited) }, { fallbacks: after.map(edited) }),
          ),
        now: ({ id }) => inbounds.get(Number(id)) && { fallbacks: store.of(Number(id)).map(edited) },
        undo: async ([change], who) => {
          const { id, before } = change as KeptChange;
          const sent = before['fallbacks'] as readonly SentFallback[];
          const { applied } = await service.replace(Number(id), sent, who);
          return describeResult('fallbacks set back', applied);
        },
      }),
    ),
    contribute(WaySources, { start: (output) => void (service.output = output) }),
  ],
  taps: ({ store, service, inbounds }) => [
    tap(beforeInboundSave, ({ before, after }) => service.refuseApart(before, after), { strict: true }),
    tap(duringInboundSave, ({ changes }, tx) => {
      const deleted = changes.flatMap(({ kind, before }) =>
        kind === 'deleted' && before ? [before.id] : [],
      );
      if (deleted.length > 0) store.inboundsDeleted(tx, deleted);
    }),
    tap(afterInboundSave, ({ changes }) => service.inboundsChanged(changes), { stage: stage.LATE }),
    tap(inboundEntry, (entry, { inbound }) => {
      if (!service.isReady || !isHidden(inbound)) return entry;
      const master = inbounds.get(store.parentOf(inbound)?.masterId ?? 0);
      const own = master && leadsOn(master) ? inbounds.entry(master) : undefined;
      return own ? throughMaster(entry, own) : entry;
    }),
    tap(coreSettings, (settings, { inbound }) => service.settingsOf(settings, inbound)),
    tap(describeInbounds, (rows) => {
      const parents = store.parents();
      return rows.map((row) => ({ ...row, fallbackParent: parents.get(row.id) ?? null }));
    }),
  ],
  routes,
  // Subscriptions that started earlier were composed without fallbacks.
  start: ({ service }) => {
    service.isReady = true;
    return service.refreshLinks();
  },
});
