// Bodies and replies about resellers and their clients.
import {
  bool,
  int,
  list,
  nullable,
  optional,
  shape,
  type Static,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import { sentEmails, SomeClient, someClientShapes } from '../clients/contract.js';

const amount = () => int().min(0);
const { settable, ofNew, fields, links, page, inbounds } = someClientShapes;
const inboundIds = () => list(int().min(1)).max(1000);

/** Of the fields of a client, a reseller sets these alone: no keys, no groups, no renewals by themselves. */
export const NewOwnClient = shape({
  email: word().max(255),
  inboundIds: inboundIds().min(1),
  ...ofNew,
}).example({ email: 'north-ada', inboundIds: [1], totalGB: 53_687_091_200, expiryTime: -2_592_000_000 });
export type NewOwnClient = Static<typeof NewOwnClient>;

export const ClientChanges = shape({
  email: optional(word().max(255)),
  inboundIds: optional(inboundIds()).description('of those that he may use; the client stays in others'),
  totalGB: optional(settable.totalGB),
  expiryTime: optional(settable.expiryTime),
  enable: optional(settable.enable),
  comment: optional(settable.comment),
  limitIp: optional(settable.limitIp),
  limitHwid: optional(settable.limitHwid),
  flow: optional(settable.flow),
}).example({ totalGB: 107_374_182_400, comment: 'paid until May' });
export type ClientChanges = Static<typeof ClientChanges>;

export const Id = shape({ id: int().min(1).example(1) });

export const OwnClientWithLinks = shape({ ...fields, ...links });
export const OwnPage = shape({ ...page, items: list(SomeClient) });

const quotas = {
  prefix: text().description('his names begin with it; blank for any'),
  maxClients: amount().description('0 for no limit'),
  maxBytes: amount().description('sum of all that he may give; 0 for no limit'),
  maxDays: amount().description('how long a client may last from now; 0 for no limit'),
  mayReset: bool(),
};
/** What a reseller sees of himself. */
export const Figures = shape({
  name: text(),
  ...quotas,
  clients: amount().description('that he has'),
  givenBytes: amount().description('that count for maxBytes'),
  inbounds,
});
export const ResellerReply = shape({
  id: int(),
  admin: nullable(shape({ id: int(), username: text(), enabled: bool(), role: int() })).description(
    'null: the admin was deleted, and nobody can log in for this reseller',
  ),
  name: text(),
  ...quotas,
  inboundIds: list(int()),
  clients: amount().description('that he has'),
  givenBytes: amount().description('that count for maxBytes'),
  createdAt: amount().description('Unix ms'),
});

const name = () =>
  word()
    .trim()
    .max(64)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text without control characters');
const prefix = () =>
  text()
    .max(32)
    .pattern(/^[^\s/\\\p{Cc}\p{Cs}]*$/u, 'text without spaces, slashes and control characters');
export const NewReseller = shape({
  admin: int().min(1).description('id of an admin, who needs a role of the kind reseller'),
  name: optional(name()).description('the name of the admin if it is left out'),
  prefix: withDefault(prefix(), ''),
  inboundIds: withDefault(inboundIds(), []),
  maxClients: withDefault(amount(), 0),
  maxBytes: withDefault(amount(), 0),
  maxDays: withDefault(amount().max(36_500), 0),
  mayReset: withDefault(bool(), false),
}).example({ admin: 1, prefix: 'north-', inboundIds: [1], maxClients: 100, maxBytes: 10_995_116_277_760 });
export const ResellerChanges = shape({
  admin: optional(int().min(1)),
  name: optional(name()),
  prefix: optional(prefix()),
  inboundIds: optional(inboundIds()),
  maxClients: optional(amount()),
  maxBytes: optional(amount()),
  maxDays: optional(amount().max(36_500)),
  mayReset: optional(bool()),
}).example({ maxClients: 200 });
export const OwnerEmails = shape({ emails: sentEmails().min(1) }).example({ emails: ['ada@example.org'] });
export const OwnerReply = shape({ changed: amount(), unknown: list(text()) });
