import {
  bool,
  int,
  list,
  oneOf,
  message,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import { holdingOpen } from '../outgoing/contract.js';
import { SEVERITIES } from './contract.js';
import { DELIVERY_STATES } from './deliveries/delivery.js';
import type { DeliveryLog } from './deliveries/delivery-log.js';
import { errors } from './errors.js';
import type { DeclaredEvents } from './events/declared-events.js';
import type { Notifier } from './notifier.js';
import type { TextRenderer } from './texts/text-renderer.js';

const API = '/panel/api/x/notifications';
const exactly = (longest: number) => optional(word().max(longest));

export const routes = ({
  notifier,
  deliveryLog,
  events,
  texts,
}: {
  readonly notifier: Notifier;
  readonly deliveryLog: DeliveryLog;
  readonly events: DeclaredEvents;
  readonly texts: TextRenderer;
}): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/notifications/test',
    name: 'notifications.test',
    doc: 'Sends one test notification over every enabled channel and returns the results.',
    reply: payload(list(shape({ channel: text(), plugin: text(), delivered: bool(), reason: text() }))),
    handle: ({ reply }) => holdingOpen(reply.progressed, () => notifier.test()),
  }),
  route({
    method: 'GET',
    path: `${API}/events`,
    name: 'notifications.events',
    doc: 'The events that can be notified of, by name.',
    query: shape({
      language: withDefault(
        word()
          .max(35)
          .pattern(/^[A-Za-z0-9-]+$/, 'a tag such as en or zh-CN'),
        'en',
      ),
    }),
    reply: payload(
      list(
        shape({
          name: text(),
          plugin: text(),
          title: text(),
          severity: oneOf(...SEVERITIES),
          isOnByDefault: bool(),
          aliases: list(text()).description('other names in lists of events'),
          partOf: text().description('an event that includes it; blank without one'),
        }),
      ),
    ),
    handle: ({ query }) =>
      events.entries
        .map(({ plugin, value: event }) => ({
          name: event.name,
          plugin,
          title: texts.event(event, query.language, {}).title,
          severity: event.severity,
          isOnByDefault: event.isOnByDefault,
          aliases: [...(event.aliases ?? [])],
          partOf: event.partOf ?? '',
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }),
  route({
    method: 'GET',
    path: `${API}/channels`,
    name: 'notifications.channels',
    doc: 'The channels, with how many notifications wait for each.',
    reply: payload(
      list(
        shape({
          channel: text(),
          plugin: text(),
          isOn: bool(),
          language: text(),
          reachesClients: bool(),
          waiting: int().min(0),
          pausedUntil: int().min(0).description('Unix ms; 0: it is not paused'),
          problem: text().description('why the last attempt failed; blank after a success'),
        }),
      ),
    ),
    handle: () =>
      notifier.queues.map(({ caller, size, pausedUntil, lastProblem }) => ({
        channel: caller.name,
        plugin: caller.plugin,
        isOn: caller.isOn(),
        language: caller.language(),
        reachesClients: caller.reachesClients,
        waiting: size,
        pausedUntil,
        problem: lastProblem,
      })),
  }),
  route({
    method: 'GET',
    path: `${API}/deliveries`,
    name: 'notifications.deliveries',
    doc: 'The delivery log, newest first. For the next page, send the id of the last entry as `before`.',
    query: shape({
      channel: exactly(64),
      event: exactly(64),
      state: optional(oneOf(...DELIVERY_STATES)),
      severity: optional(oneOf(...SEVERITIES)),
      client: exactly(255).description('email of the client that it went to'),
      before: optional(int().min(1)),
      limit: withDefault(int().min(1).max(200), 50),
    }),
    reply: payload(
      list(
        shape({
          id: int(),
          notificationId: text().description('the same over all channels'),
          channel: text(),
          event: text(),
          severity: oneOf(...SEVERITIES),
          at: int().description('Unix ms'),
          title: text(),
          text: text(),
          isSummary: bool(),
          client: text().description('email of the client that it went to; blank for admins'),
          state: oneOf(...DELIVERY_STATES),
          attempts: int().min(0),
          attemptedAt: int().min(0).description('Unix ms of the last attempt; 0: none yet'),
          problem: text().description('why the last attempt failed, or why it was dropped'),
        }),
      ),
    ),
    handle: ({ query }) => deliveryLog.list(query),
  }),
  route({
    method: 'POST',
    path: `${API}/deliveries/{id}/redeliver`,
    name: 'notifications.redeliver',
    doc: 'Sends a notification of the log again over its channel, with the same id and text.',
    params: shape({ id: int().min(1) }),
    reply: message(),
    errors: [errors.UNKNOWN_DELIVERY, errors.STILL_WAITING, errors.NO_CHANNEL, errors.QUEUE_FULL],
    handle: ({ params, who }) => deliveryLog.redeliver(params.id, who),
  }),
];
