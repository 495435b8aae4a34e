// Bodies and replies of the routes of hosts.
import {
  bool,
  int,
  list,
  nullable,
  optional,
  type Schema,
  shape,
  type Static,
  text,
  word,
} from '../../kernel/index.js';
import { version } from '../record-versions/contract.js';
import { hostRecord } from './fields.js';

/** Most texts in `hosts`, and most inbounds, of one group. */
const MOST_HOSTS = 500;
export const MOST_INBOUNDS = 1000;
const MOST_IDS = 10_000;

const GROUP_ID = /^[A-Za-z0-9_-]*$/;
const { schemas } = hostRecord;
const { remark, ...others } = schemas;
/** null, which existing programs send, means the initial value. */
type Sent<S> = {
  readonly [K in keyof S]: ReturnType<typeof optional<ReturnType<typeof nullable<S[K] & Schema>>>>;
};
const sent = Object.fromEntries(
  Object.entries(others).map(([name, schema]) => [name, optional(nullable(schema))]),
) as unknown as Sent<typeof others>;
const inboundIds = () => list(int().min(1)).min(1).max(MOST_INBOUNDS).unique();
const hosts = () =>
  list(text().max(300))
    .max(MOST_HOSTS)
    .description('host names or addresses, each may carry `:port`; empty: the address of the inbound');

export const AddHosts = shape({
  ...sent,
  remark,
  inboundIds: inboundIds(),
  hosts: optional(nullable(hosts())),
  groupId: optional(nullable(text().max(64).pattern(GROUP_ID, 'groupId of letters, digits, - and _'))),
}).example({
  inboundIds: [1],
  remark: 'CDN',
  hosts: ['cdn.example.com', '[2001:db8::1]:8443'],
  port: 443,
  security: 'tls',
  sni: 'cdn.example.com',
  tags: ['EU'],
});
export type AddHosts = Static<typeof AddHosts>;
/** Fields that are left out stay unchanged. */
export const UpdateHosts = shape({
  ...sent,
  remark: optional(remark),
  inboundIds: optional(inboundIds()),
  hosts: optional(nullable(hosts())),
}).example({ remark: 'another CDN', hosts: ['cdn2.example.com:8443'] });
export type UpdateHosts = Static<typeof UpdateHosts>;

export const GroupId = shape({ groupId: word().max(64).example('k3w8z1q0v5r7x2m9') });
export const InboundId = shape({ inboundId: int().min(1).example(1) });
const ids = () => list(word().max(64)).max(MOST_IDS).unique();
export const GroupIds = shape({ ids: ids() }).example({ ids: ['k3w8z1q0v5r7x2m9'] });
export const Enable = shape({ enable: bool() }).example({ enable: false });
export const EnableMany = shape({ ids: ids(), enable: bool() }).example({
  ids: ['k3w8z1q0v5r7x2m9'],
  enable: false,
});

export const GroupReply = shape({
  groupId: text(),
  inboundIds: list(int()),
  hosts: list(text()),
  ...schemas,
  version: version(),
});
export const RowReply = shape({
  ...schemas,
  id: int(),
  groupId: text(),
  inboundId: int(),
  address: text(),
  port: int().description('0: of the inbound'),
  createdAt: int(),
  updatedAt: int(),
});
