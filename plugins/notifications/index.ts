import { afterKernelLead, definePlugin, everywhere, job, maybe, singleton, tap } from '../../kernel/index.js';
import { AuditTrail } from '../audit/contract.js';
import { beforeLeadEnds, inTime, Panels } from '../cluster/contract.js';
import { afterSettingsSave, beforeSettingsSave, Settings } from '../settings/contract.js';
import { DeliveryLog } from './deliveries/delivery-log.js';
import { afterDeliveriesStored, DeliveryStore } from './deliveries/delivery-store.js';
import { errors } from './errors.js';
import { DeclaredEvents } from './events/declared-events.js';
import { eventTaps } from './events/event-taps.js';
import { Notifier } from './notifier.js';
import { routes } from './routes.js';
import { notificationSettings } from './settings.js';
import { migrations, tables } from './tables.js';
import { TextRenderer } from './texts/text-renderer.js';

export default definePlugin({
  name: 'notifications',
  version: '0.2.0',
  api: 1,
  about: 'Sends notifications of the events of other plugins over the channels that other plugins add.',
  uses: { panel: Settings, audit: maybe(AuditTrail), panels: maybe(Panels) },
  settings: notificationSettings,
  hooks: [afterDeliveriesStored],
  tables,
  migrations,
  services: {
    events: singleton(DeclaredEvents),
    texts: singleton(TextRenderer),
    store: singleton(DeliveryStore),
    notifier: singleton(Notifier),
    deliveryLog: singleton(DeliveryLog),
  },
  taps: ({ notifier, events, panels }) => [
    ...eventTaps(events.entries, notifier),
    tap(afterDeliveriesStored, ({ deliveries }) => notifier.stored(deliveries)),
    // What others have stored since this panel has started.
    tap(afterKernelLead, () => (panels?.number ? notifier.lead() : undefined)),
    tap(beforeLeadEnds, () => inTime(notifier.stop())),
    tap(afterSettingsSave, () => notifier.forgetWishes()),
    tap(beforeSettingsSave, ({ changes }) => {
      const { notificationEvents: names } = changes;
      const unknown = Array.isArray(names) ? events.unknown(names as string[]) : [];
      if (unknown.length > 0)
        throw errors.UNKNOWN_EVENT(
          `notificationEvents: no plugin has the event ${JSON.stringify(unknown[0])}; GET /panel/api/x/notifications/events lists them`,
        );
    }),
  ],
  routes,
  jobs: ({ notifier, deliveryLog }) => [
    everywhere(job('deliver', '1s', () => notifier.tick())),
    job('prune', '1h', (signal) => deliveryLog.prune(signal)),
  ],
  start: ({ notifier }) => notifier.start(),
  stop: ({ notifier }) => notifier.stop(),
});
