import {
  contribute,
  definePlugin,
  kernelErrors,
  provide,
  SerialQueue,
  singleton,
  tap,
  validate,
  sentenceOf,
} from '../../kernel/index.js';
import { ArchiveParts } from '../archive/contract.js';
import { AuditedHooks, recordUndoer, Undoers } from '../audit/contract.js';
import { afterInboundSave, beforeInboundSave, duringInboundSave, Inbounds } from '../inbounds/contract.js';
import { LiveTypes } from '../realtime/contract.js';
import { composeSubscription, WaySources } from '../subscription/contract.js';
import { afterHostSave, duringHostSave, HostEdits } from './contract.js';
import { hostsPart } from './archive-part.js';
import { externalProxies } from './external-proxy.js';
import { HostCheck } from './host-check.js';
import { HostService } from './host-service.js';
import { groupView, HostStore } from './host-store.js';
import { HostWays } from './host-ways.js';
import type { HostGroup } from './memory.js';
import { hosts } from './recorded.js';
import { routes } from './routes.js';
import { AddHosts, UpdateHosts } from './schemas.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'hosts',
  version: '0.1.0',
  api: 1,
  about: 'Further addresses of inbounds, which subscriptions show in place of their own.',
  // Not `Subscription`: the hosts must be in memory before subscriptions are composed for the first time.
  uses: { inbounds: Inbounds },
  hooks: [duringHostSave, afterHostSave],
  tables,
  migrations,
  services: {
    // Edits run one after another: each is checked against the result of the previous one.
    queue: singleton(SerialQueue),
    store: singleton(HostStore),
    ways: singleton(HostWays),
    check: singleton(HostCheck),
    service: singleton(HostService),
  },
  provides: ({ store, service }) => [
    provide(HostEdits, {
      has: (groupId) => store.get(groupId) !== undefined,
      add: async (group, who) => void (await service.add(validate(AddHosts, group), who)),
      check: (group) => service.check(validate(AddHosts, group)),
    }),
  ],
  contributes: ({ ways, store, service }) => [
    contribute(ArchiveParts, hostsPart({ store, service })),
    contribute(AuditedHooks, hosts),
    contribute(
      Undoers,
      recordUndoer<HostGroup>(hosts, {
        facts: groupView,
        find: (groupId) => store.get(groupId),
        set: (groupId, { groupId: _, ...fields }, who) =>
          service.update(groupId, validate(UpdateHosts, fields), who),
        remake: (_, group, who) => service.add(validate(AddHosts, group), who),
      }),
    ),
    contribute(WaySources, { start: (output) => void (ways.output = output) }),
    contribute(LiveTypes, { type: 'hosts', start: (output) => void (ways.live = output) }),
  ],
  taps: ({ store, ways }) => [
    tap(composeSubscription, (add, context) => ways.add(add, context)),
    tap(afterHostSave, ({ changes }) => ways.changed(changes)),
    tap(
      beforeInboundSave,
      ({ before, after }) => {
        const sent = after.streamSettings['externalProxy'];
        if (JSON.stringify(sent) === JSON.stringify(before?.streamSettings['externalProxy'])) return;
        const { issues } = externalProxies(after.streamSettings);
        if (issues.length > 0) throw kernelErrors.INVALID(sentenceOf(issues), { issues });
      },
      { strict: true },
    ),
    tap(duringInboundSave, ({ changes }, tx) =>
      store.inboundsDeleted(
        tx,
        changes.flatMap(({ before, after }) => (before && !after ? before.id : [])),
      ),
    ),
    tap(afterInboundSave, ({ changes }) => {
      if (changes.some(({ kind }) => kind === 'deleted')) ways.invalidate();
    }),
  ],
  routes,
  start: async ({ inbounds, ways }) => {
    ways.ready = true;
    // Subscriptions that started earlier were composed without hosts.
    await ways.output?.recompose(inbounds.list().map(({ id }) => id));
  },
});
