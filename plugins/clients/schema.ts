// Clients as the API shows and takes them.
import {
  anything,
  bool,
  custom,
  describedAs,
  int,
  list,
  nullable,
  openObject,
  optional,
  shape,
  type Static,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import Joi from 'joi';

const amount = () => int().min(0);
// Emails and subscription ids stand in paths and in files of client programs.
// Dots alone are steps in a path, even escaped. Halves of surrogate pairs have no UTF-8.
const NAME = /^(?!\.{1,2}$)[^\s/\\\p{Cc}\p{Cs}]+$/u;
const NAME_RULE = 'text without spaces, slashes and control characters';
const trimmed = { convert: true } as const;
const nameText = () => text().trim().prefs(trimmed).max(255).pattern(NAME, NAME_RULE);
const line = () => text().pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Literal segments of paths that would hide a client of that name. */
const RESERVED = new Set([
  'list',
  'get',
  'add',
  'update',
  'del',
  'export',
  'import',
  'groups',
  'onlines',
  'traffic',
  'links',
  'sublinks',
  'applink',
  'bulkcreate',
  'bulkadjust',
  'bulkenable',
  'bulkdisable',
  'bulkdel',
  'bulkattach',
  'bulkdetach',
  'bulkresettraffic',
  'resetalltraffics',
  'resettraffic',
  'updatetraffic',
  'deldepleted',
  'delorphans',
  'ips',
  'clearips',
  'hwids',
  'lastonline',
  'activeinbounds',
  'onlinesbyguid',
  'clientipsbyguid',
]);

const email = () =>
  word()
    .trim()
    .prefs(trimmed)
    .max(255)
    .pattern(NAME, NAME_RULE)
    .custom((value: string, state) =>
      RESERVED.has(value.toLowerCase())
        ? state.error('any.custom', {
            error: new Error(`"${value}" is a word of the API and cannot be a client's name`),
          })
        : value,
    );
/** `id` in a client body is the UUID in the wire form of many programs; an integer there is somebody's row number and means nothing. */
const wireId = () =>
  custom<string>(
    describedAs(Joi.any(), {
      anyOf: [
        { const: '' },
        { type: 'string', format: 'uuid' },
        { type: 'integer', description: 'means nothing' },
      ],
    }).custom((value: unknown, state) => {
      if (value === '' || Number.isSafeInteger(value)) return '';
      return typeof value === 'string' && UUID.test(value)
        ? value
        : state.error('any.custom', { error: new Error('it must be a UUID') });
    }),
  );
const uuid = () => text().pattern(UUID, 'UUID');

const fields = {
  subId: nameText(),
  uuid: uuid(),
  password: line().max(255),
  flow: text().valid('', 'xtls-rprx-vision'),
  totalGB: amount().description('bytes, despite the name; 0 for no limit'),
  expiryTime: int().description('Unix ms; 0 for never; negative: that many ms from the first use on'),
  enable: bool(),
  limitIp: amount(),
  limitHwid: amount(),
  tgId: amount(),
  group: line().max(255),
  comment: text()
    .max(4096)
    .pattern(/^(?:[^\p{Cc}\p{Cs}]|[\t\r\n])*$/u, 'text without control characters'),
  reset: amount().description('days'),
  resetDay: int().min(0).max(31),
  resetMax: amount(),
  reverse: nullable(openObject()),
};
const optionalFields = Object.fromEntries(
  Object.entries(fields).map(([key, schema]) => [key, optional(schema)]),
) as {
  [K in keyof typeof fields]: ReturnType<typeof optional<(typeof fields)[K]>>;
};

/** A client in add and import; blanks are filled in by the panel. */
export const NewClient = shape({ email: email(), id: optional(wireId()), ...optionalFields });
export type NewClient = Static<typeof NewClient>;
/** What is left out stays as it is. */
export const ClientPatch = shape({
  email: optional(email()),
  id: optional(wireId()),
  ...optionalFields,
}).example({ totalGB: 107_374_182_400, comment: 'paid until May' });
export type ClientPatch = Static<typeof ClientPatch>;
const added = { client: NewClient, inboundIds: list(int().min(1)).min(1).max(1000) };
export const AddClient = shape(added).example({
  client: { email: 'grace@example.org', totalGB: 53_687_091_200, expiryTime: 0 },
  inboundIds: [1],
});
/** Many of them. A wrong one is skipped, and the others are added. */
export const AddClients = list(
  describedAs(
    anything(),
    custom(
      Joi.alternatives(shape(added), anything().description('anything else is skipped, with its reason')),
    ),
  ),
)
  .max(10_000)
  .example([
    { client: { email: 'joan@example.org' }, inboundIds: [1] },
    { client: { email: 'kay@example.org', group: 'family' }, inboundIds: [1] },
  ]);
export type AddClient = Static<typeof AddClient>;

/** One of an export; it may be attached to nothing. */
export const ImportedClient = shape({
  client: NewClient,
  inboundIds: withDefault(list(int().min(1)).max(1000).empty(null), []),
});
export const ExportedClient = shape({
  client: shape({ id: word(), email: word(), ...fields }),
  inboundIds: list(int()),
});
export type ExportedClient = Static<typeof ExportedClient>;
export const ImportData = shape({
  data: word().description('JSON text of the list that clients/export gives'),
}).example({ data: '[{"client":{"email":"mary@example.org"},"inboundIds":[1]}]' });

export const TrafficRecord = shape({
  id: int(),
  inboundId: int(),
  email: word(),
  subId: word(),
  uuid: word(),
  enable: bool(),
  expiryTime: int(),
  total: amount(),
  up: amount(),
  down: amount(),
  lastOnline: amount(),
  lastSubFetch: amount(),
  reset: amount(),
  resetCount: amount(),
  resetDay: amount(),
  resetMax: amount(),
});
export type TrafficRecord = Static<typeof TrafficRecord>;

const replied = {
  id: int(),
  email: word(),
  ...fields,
  inboundIds: list(int()),
  traffic: nullable(TrafficRecord),
  createdAt: amount(),
  updatedAt: amount(),
  externalLinks: optional(list(openObject())),
};
export const ClientReply = shape(replied);
export type ClientReply = Static<typeof ClientReply>;

export const SameTgId = shape({ ...replied, sameTgId: list(word()) });

const emails = () => list(word());
export const Page = shape({
  filtered: amount(),
  total: amount(),
  page: amount(),
  pageSize: amount(),
  items: list(ClientReply),
  groups: list(text()),
  summary: shape({
    total: amount(),
    active: amount(),
    deactive: emails(),
    deactiveCount: amount(),
    depleted: emails(),
    depletedCount: amount(),
    expiring: emails(),
    expiringCount: amount(),
    online: emails(),
    onlineCount: amount(),
  }),
});

/** Zero is how many programs say that they have no wish. */
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
/** Sort keys, orders and buckets that are not understood are as if they were not sent. */
export const PageQuery = shape({
  page: orDefault(1),
  pageSize: orDefault(25).description('at most 200'),
  search: withDefault(text().max(255), '').description(
    'part of the email, subId, comment, UUID, password or tgId, in any case',
  ),
  status: csv('any of online, active, deactive, depleted, expiring; with commas'),
  filter: csv('the same as status'),
  protocol: csv('attached to an inbound of any of these protocols; with commas'),
  inboundIds: csv('attached to any of these inbounds; with commas; what is no id is ignored'),
  inbound: csv('the same as inboundIds'),
  sort: withDefault(text(), '').description(
    'enable, email, inboundIds, traffic, remaining, expiryTime, createdAt, updatedAt or lastOnline; else by id',
  ),
  order: withDefault(text(), '').description('descend, or ascending'),
  expiryFrom: bound('Unix ms of the expiry'),
  expiryTo: bound('Unix ms of the expiry'),
  usageFrom: bound('bytes used'),
  usageTo: bound('bytes used'),
  autoRenew: either('on', 'off', 'renews by days or on a day of the month, or does not'),
  hasTgId: either('yes', 'no', 'has a tgId, or none'),
  hasComment: either('yes', 'no', 'has a comment, or none'),
  group: csv('in any of these groups, in any case; with commas'),
});
export type PageQuery = Static<typeof PageQuery>;

export const KeepTraffic = shape({
  keepTraffic: withDefault(text().valid('', '0', '1', 'true', 'false'), '').description(
    '1 to keep what it used, for a client of the same email that is created later',
  ),
});
export const InboundIds = shape({ inboundIds: list(int().min(1)).max(1000) }).example({ inboundIds: [1] });
const sentEmails = () => list(text().max(255)).max(10_000);
const SOME = ['ada@example.org'];
export const Emails = shape({ emails: sentEmails() }).example({ emails: SOME });
export const EmailsAndInbounds = shape({
  emails: sentEmails(),
  inboundIds: list(int().min(1)).max(1000),
}).example({ emails: SOME, inboundIds: [1] });
export const DeleteMany = shape({
  emails: sentEmails(),
  keepTraffic: withDefault(bool(), false),
}).example({ emails: SOME, keepTraffic: true });
export const AdjustMany = shape({
  emails: sentEmails(),
  addDays: withDefault(int().min(-36_500).max(36_500), 0),
  addBytes: withDefault(int(), 0),
  flow: withDefault(text().valid('', 'none', 'xtls-rprx-vision'), '').description('none to clear it'),
  limitHwid: optional(amount()),
}).example({ emails: SOME, addDays: 30 });
const groupName = () =>
  word()
    .trim()
    .prefs(trimmed)
    .max(255)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
export const GroupName = shape({ name: groupName() }).example({ name: 'family' });
export const NewGroup = shape({ name: groupName() }).example({ name: 'friends' });
export const RenameGroup = shape({ oldName: groupName(), newName: groupName() }).example({
  oldName: 'family',
  newName: 'relatives',
});
export const EmailsAndGroup = shape({ emails: sentEmails(), group: groupName() }).example({
  emails: SOME,
  group: 'family',
});
export const GroupReply = shape({
  name: text(),
  clientCount: amount(),
  trafficUsed: amount(),
  up: amount(),
  down: amount(),
});
export const Counters = shape({ upload: amount(), download: amount() }).example({
  upload: 1_048_576,
  download: 10_485_760,
});
export const TgId = shape({ tgId: int().min(1).example(7) });

export const Email = shape({ email: word().example('ada@example.org') });
/** `index` counts the items that were sent, from 0. */
export const SkippedItems = list(shape({ index: amount(), email: text(), reason: text(), code: text() }));
export const Skipped = list(shape({ email: text(), reason: text(), code: text() }));
