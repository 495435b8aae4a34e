// Endpoints and deliveries as programs send and read them.
import {
  bool,
  int,
  list,
  oneOf,
  optional,
  shape,
  type Static,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import { version } from '../record-versions/contract.js';

const MOST_EVENTS = 100;
const PATTERN = /^(?:\*|[a-z][a-zA-Z0-9-]*(?:\.[a-zA-Z0-9-]+)*(?:\.\*)?)$/;

const url = () => word().max(2_048).description('https:// or http://');
const description = () =>
  text()
    .max(255)
    .pattern(/^[^\p{Cc}]*$/u, 'text of one line')
    .description('a name for people');
const events = () =>
  list(word().max(96).pattern(PATTERN, 'type of event, like client.created, client.* or *'))
    .min(1)
    .max(MOST_EVENTS)
    .description('types of events: `client.created`, `client.*`, or `*` for all');
const allowPrivate = () => bool().description('the address may be in your own network, or on this machine');

export const SentEndpoint = shape({
  id: optional(
    word()
      .min(3)
      .max(32)
      .pattern(/^[A-Za-z0-9_-]+$/, 'letters, digits, hyphens and underscores')
      .description('random by default'),
  ),
  url: url(),
  events: events(),
  description: optional(description()),
  enable: optional(bool()),
  allowPrivate: optional(allowPrivate()),
}).example({ url: 'https://shop.example/weir', events: ['client.*'], description: 'the shop' });
export type SentEndpoint = Static<typeof SentEndpoint>;

export const SentEndpointChange = shape({
  url: optional(url()),
  events: optional(events()),
  description: optional(description()),
  enable: optional(bool()),
  allowPrivate: optional(allowPrivate()),
  skipWaiting: optional(bool().description('events that wait are not sent any more')),
}).example({ description: 'the new shop' });
export type SentEndpointChange = Static<typeof SentEndpointChange>;

const MOST_OVERLAP_HOURS = 24 * 7;
export const SentRotation = shape({
  overlapHours: withDefault(
    int().min(0).max(MOST_OVERLAP_HOURS).description('how long the previous secret signs too'),
    24,
  ),
}).example({ overlapHours: 24 });

export const SentSpan = shape({
  from: int().min(0).description('Unix ms'),
  to: optional(int().min(0).description('Unix ms; now by default')),
  onlyFailed: withDefault(bool().description('leaves out what was delivered'), true),
}).example({ from: 1767225600000 });

export const EndpointId = shape({ id: word().max(32).example('ep_0123456789abcdef01') });
export const DeliveryId = shape({ id: int().min(1).example(1) });
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;

export const DeliveryQuery = shape({
  endpoint: optional(word().max(32).description('id of an endpoint')),
  state: optional(oneOf(...DELIVERY_STATES)),
  type: optional(word().max(96)),
  from: optional(int().min(0).description('Unix ms of the event')),
  to: optional(int().min(0).description('Unix ms of the event')),
  before: optional(int().min(1).description('the `id` of the last one of the page before')),
  limit: withDefault(int().min(1).max(1_000), 100),
});

export const EndpointReply = shape({
  id: text(),
  url: text(),
  description: text(),
  events: list(text()),
  enable: bool(),
  allowPrivate: bool(),
  disabledReason: text().description('why the panel disabled it; empty when it did not'),
  previousSecretUntil: int().description('Unix ms until which the secret before the last rotation signs too'),
  createdAt: int().description('Unix ms'),
  updatedAt: int().description('Unix ms'),
  waiting: int().description('events that wait'),
  dropped: int().description('events that were removed before it got them'),
  failures: int().description('attempts that failed since the last one that did not'),
  failingSince: int().description('Unix ms; 0 while it does not fail'),
  pausedUntil: int().description('Unix ms of the next attempt; 0 without a pause'),
  lastDeliveredAt: int().description('Unix ms; 0 for never'),
  lastError: text(),
  version: version(),
});
export type EndpointReply = Static<typeof EndpointReply>;

export const CreatedReply = shape({ id: text(), secret: text().description('shown this once') });
export const RotatedReply = shape({
  secret: text().description('shown this once'),
  previousSecretUntil: int().description('Unix ms'),
});
export const DeliveryReply = shape({
  id: int(),
  endpointId: text(),
  webhookId: text().description('the header webhook-id: the same for each attempt'),
  type: text(),
  at: int().description('Unix ms of the event'),
  state: oneOf(...DELIVERY_STATES).description('failed: given up'),
  attempts: int(),
  dueAt: int().description('Unix ms of the next attempt; 0 without one'),
  firstAt: int().description('Unix ms of the first attempt; 0 before it'),
  lastAt: int().description('Unix ms of the last attempt; 0 before the first'),
  status: int().description('of the last reply; 0 without one'),
  error: text().description('why the last attempt failed; empty when it did not'),
  ms: int().description('how long the last attempt took'),
});
export const PingReply = shape({ delivered: bool(), status: int(), ms: int(), error: text() });
export const InformReply = shape({
  sent: int(),
  failed: int(),
  skipped: int().description('polls whose report was left out, because an earlier one was under way'),
  lastSentAt: int().description('Unix ms; 0 for never'),
  lastError: text(),
});
