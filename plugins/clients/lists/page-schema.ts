// The query and the reply of the paged list.
import { int, list, shape, type Static, text, withDefault, word } from '../../../kernel/index.js';
import { ClientReply } from '../model/schema.js';
import { nonNegative } from '../model/value-schemas.js';

const emails = () => list(word());
export const Page = shape({
  filtered: nonNegative(),
  total: nonNegative(),
  page: nonNegative(),
  pageSize: nonNegative(),
  items: list(ClientReply),
  groups: list(text()),
  summary: shape({
    total: nonNegative(),
    active: nonNegative(),
    deactive: emails(),
    deactiveCount: nonNegative(),
    depleted: emails(),
    depletedCount: nonNegative(),
    expiring: emails(),
    expiringCount: nonNegative(),
    online: emails(),
    onlineCount: nonNegative(),
  }),
});

/** Many programs send zero for the default. */
const orDefault = (value: number) =>
  withDefault(
    int()
      .min(0)
      .custom((sent: number) => sent || value),
    value,
  );
const csv = (about: string) => withDefault(text().max(10_000), '').description(about);
const bound = (about: string) => withDefault(int(), 0).description(`${about}, inclusive; 0 or less for none`);
const either = (yes: string, no: string, about: string) =>
  withDefault(text().valid('', yes, no), '').description(about);
/** What a client must be to pass; a client must pass all that is given. */
const filterFields = {
  search: withDefault(text().max(255), '').description(
    'part of the email, subId, comment, UUID, password or tgId, in any case',
  ),
  status: csv('any of online, active, deactive, depleted, expiring; with commas'),
  filter: csv('the same as status'),
  protocol: csv('attached to an inbound of any of these protocols; with commas'),
  inboundIds: csv('attached to any of these inbounds; with commas; what is no id is ignored'),
  inbound: csv('the same as inboundIds'),
  expiryFrom: bound('Unix ms of the expiry'),
  expiryTo: bound('Unix ms of the expiry'),
  usageFrom: bound('bytes used'),
  usageTo: bound('bytes used'),
  autoRenew: either('on', 'off', 'renews by days or on a day of the month, or does not'),
  hasTgId: either('yes', 'no', 'has a tgId, or none'),
  hasComment: either('yes', 'no', 'has a comment, or none'),
  group: csv('in any of these groups, in any case; with commas'),
};
/** The filter of the list, for work on all clients that it shows. */
export const ClientFilter = shape(filterFields);
export type ClientFilter = Static<typeof ClientFilter>;

/** Unknown sort keys, orders and buckets are ignored. */
export const PageQuery = shape({
  page: orDefault(1),
  pageSize: orDefault(25).description('at most 200'),
  sort: withDefault(text(), '').description(
    'enable, email, inboundIds, traffic, remaining, expiryTime, createdAt, updatedAt or lastOnline; else by id',
  ),
  order: withDefault(text(), '').description('descend, or ascending'),
  ...filterFields,
});
export type PageQuery = Static<typeof PageQuery>;
