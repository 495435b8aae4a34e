// Bodies and replies about resellers and their clients.
import {
  bool,
  int,
  list,
  nullable,
  oneOf,
  optional,
  shape,
  type Static,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import { sentEmails } from '../clients/contract.js';

const amount = () => int().min(0);
const inboundIds = () => list(int().min(1)).max(1000);
const fields = {
  totalGB: amount().description('bytes, despite the name; 0 for no limit'),
  expiryTime: int().description('Unix ms; 0 for never; negative: that many ms from the first use on'),
  enable: bool(),
  comment: text().max(4096),
  limitIp: amount().description('addresses at once; 0 for no limit'),
  limitHwid: amount().description('devices; 0 for no limit'),
  flow: oneOf('', 'xtls-rprx-vision', 'xtls-rprx-vision-udp443'),
};

/** Of the fields of a client, a reseller sets these alone: no keys, no groups, no renewals by themselves. */
export const NewOwnClient = shape({
  email: word().max(255),
  inboundIds: inboundIds().min(1),
  totalGB: withDefault(fields.totalGB, 0),
  expiryTime: withDefault(fields.expiryTime, 0),
  enable: withDefault(fields.enable, true),
  comment: withDefault(fields.comment, ''),
  limitIp: withDefault(fields.limitIp, 0),
  limitHwid: withDefault(fields.limitHwid, 0),
  flow: withDefault(fields.flow, ''),
}).example({ email: 'north-ada', inboundIds: [1], totalGB: 53_687_091_200, expiryTime: -2_592_000_000 });
export type NewOwnClient = Static<typeof NewOwnClient>;

export const ClientChanges = shape({
  email: optional(word().max(255)),
  inboundIds: optional(inboundIds()).description('of those that he may use; the client stays in others'),
  totalGB: optional(fields.totalGB),
  expiryTime: optional(fields.expiryTime),
  enable: optional(fields.enable),
  comment: optional(fields.comment),
  limitIp: optional(fields.limitIp),
  limitHwid: optional(fields.limitHwid),
  flow: optional(fields.flow),
}).example({ totalGB: 107_374_182_400, comment: 'paid until May' });
export type ClientChanges = Static<typeof ClientChanges>;

export const Renewal = shape({
  days: int().min(1).max(36_500).description('added to what is left'),
  reset: withDefault(bool(), false).description('whether its usage starts again at zero'),
}).example({ days: 30 });
export type Renewal = Static<typeof Renewal>;

export const Id = shape({ id: int().min(1).example(1) });

/** The parameters of the list of clients that a reseller has. */
export const OwnQuery = shape({
  page: withDefault(int().min(0), 1),
  pageSize: withDefault(int().min(0), 25).description('at most 200'),
  sort: withDefault(text().max(32), '').description(
    'enable, email, inboundIds, traffic, remaining, expiryTime, createdAt, updatedAt or lastOnline; else by id',
  ),
  order: withDefault(text().max(32), '').description('descend, or ascending'),
  search: withDefault(text().max(255), '').description('part of the email or the comment, in any case'),
  status: withDefault(text().max(255), '').description(
    'any of online, active, deactive, depleted, expiring; with commas',
  ),
});

const ownClient = {
  id: int(),
  email: word(),
  inboundIds: list(int()),
  totalGB: amount(),
  expiryTime: int(),
  enable: bool(),
  depletedCause: nullable(oneOf('quota', 'expiry')).description('the limit that disabled it'),
  comment: text(),
  limitIp: amount(),
  limitHwid: amount(),
  flow: text(),
  up: amount(),
  down: amount(),
  lastOnline: amount().description('Unix ms; 0 for never'),
  online: bool(),
  createdAt: amount(),
  updatedAt: amount(),
};
export const OwnClient = shape(ownClient);
export type OwnClient = Static<typeof OwnClient>;
export const OwnClientWithLinks = shape({
  ...ownClient,
  links: list(text()).description('share links, also what a QR code shows'),
  subscription: text().description('URL of its subscription; blank where there is none'),
});
export const OwnPage = shape({
  filtered: amount(),
  page: amount(),
  pageSize: amount(),
  items: list(OwnClient),
  counts: shape({
    total: amount(),
    active: amount(),
    deactive: amount(),
    depleted: amount(),
    expiring: amount(),
    online: amount(),
  }).description('over all of them, whatever the page shows'),
});

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
  inbounds: list(
    shape({ id: int(), remark: text(), protocol: text(), flow: bool().description('takes a flow') }),
  ),
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
