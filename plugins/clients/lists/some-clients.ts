// Clients as admins see and change them who may see some clients only. Part of contract.ts.
import {
  bool,
  int,
  list,
  nullable,
  oneOf,
  shape,
  type Static,
  text,
  withDefault,
  word,
} from '../../../kernel/index.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import type { ClientRow } from '../model/row.js';

const amount = () => int().min(0);

/** What such an admin sets of a client: no keys, no renewals by themselves. Names and inbounds are for each kind of admin to decide. */
const settable = {
  totalGB: amount().description('bytes, despite the name; 0 for no limit'),
  expiryTime: int().description('Unix ms; 0 for never; negative: that many ms from the first use on'),
  enable: bool(),
  comment: text().max(4096),
  limitIp: amount().description('addresses at once; 0 for no limit'),
  limitHwid: amount().description('devices; 0 for no limit'),
  flow: oneOf('', 'xtls-rprx-vision', 'xtls-rprx-vision-udp443'),
};
/** The same of a new client. */
const ofNew = {
  totalGB: withDefault(settable.totalGB, 0),
  expiryTime: withDefault(settable.expiryTime, 0),
  enable: withDefault(settable.enable, true),
  comment: withDefault(settable.comment, ''),
  limitIp: withDefault(settable.limitIp, 0),
  limitHwid: withDefault(settable.limitHwid, 0),
  flow: withDefault(settable.flow, ''),
};

export const SomeClientRenewal = shape({
  days: int().min(1).max(36_500).description('added to what is left'),
  reset: withDefault(bool(), false).description('whether its usage starts again at zero'),
}).example({ days: 30 });
export type SomeClientRenewal = Static<typeof SomeClientRenewal>;

/** The parameters of their list. */
export const SomeClientsQuery = shape({
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

/** No keys, no group and no messenger id: what is not here, such an admin does not see. */
const fields = {
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
export const SomeClient = shape(fields);
export type SomeClient = Static<typeof SomeClient>;
const links = {
  links: list(text()).description('share links, also what a QR code shows'),
  subscription: text().description('URL of its subscription; blank where there is none'),
};

/** Of a page, all but its clients. */
const page = {
  filtered: amount(),
  page: amount(),
  pageSize: amount(),
  counts: shape({
    total: amount(),
    active: amount(),
    deactive: amount(),
    depleted: amount(),
    expiring: amount(),
    online: amount(),
  }).description('over all of them, whatever the page shows'),
};

/** Of inbounds, what a form needs. */
const inbounds = list(
  shape({ id: int(), remark: text(), protocol: text(), flow: bool().description('takes a flow') }),
);

/** Parts of the bodies and replies of plugins that let such admins work. */
export const someClientShapes = { settable, ofNew, fields, links, page, inbounds } as const;

/** As `someClientShapes.inbounds`, in the order of `ids`, without those that are gone. */
export const someInbounds = (inbounds: Pick<InboundsApi, 'get' | 'takesFlow'>, ids: readonly number[]) =>
  ids.flatMap((id) => {
    const inbound = inbounds.get(id);
    if (!inbound) return [];
    const { remark, protocol } = inbound;
    return [{ id, remark, protocol, flow: inbounds.takesFlow(id) }];
  });

export const someClient = (
  row: ClientRow,
  { up, down, lastOnline }: Pick<SomeClient, 'up' | 'down' | 'lastOnline'>,
  online: boolean,
): SomeClient => ({
  id: row.id,
  email: row.email,
  inboundIds: [...row.inboundIds],
  totalGB: row.totalGB,
  expiryTime: row.expiryTime,
  enable: row.enable,
  depletedCause: row.depletedCause,
  comment: row.comment,
  limitIp: row.limitIp,
  limitHwid: row.limitHwid,
  flow: row.flow,
  up,
  down,
  lastOnline,
  online,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
