// Inbounds as the API shows and takes them.
import {
  bool,
  int,
  jsonObject,
  list,
  nullable,
  oneOf,
  openObject,
  optional,
  shape,
  type Static,
  text,
  word,
  anything,
} from '../../kernel/index.js';

/** Bytes, Unix ms and the like: safe integers from zero. */
const amount = () => int().min(0);
const SHARE = ['node', 'listen', 'custom'] as const;
const RESETS = ['never', 'hourly', 'daily', 'weekly', 'monthly'] as const;

// An IP address, a host name, or nothing for all addresses; what the core would take for a path of a socket is no address.
const listen = () =>
  text()
    .max(255)
    .pattern(/^[A-Za-z0-9.:_-]*$/, 'address')
    .description('address to listen on; empty for all');
const shareAddr = () =>
  text()
    .max(255)
    .pattern(/^[A-Za-z0-9.:_[\]-]*$/, 'address');
// It stands in links, which have no room for control characters and halves of surrogate pairs.
const remark = () =>
  text()
    .max(255)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
const tag = () =>
  text()
    .max(128)
    .pattern(/^[^\p{Cc}\p{Cs}\s>]*$/u, 'tag without spaces');

/** Set when a limit switched the inbound off, not a person. */
const depletedCause = () =>
  nullable(oneOf('quota', 'expiry')).description('the limit that switched it off; null when none did');

const stored = {
  enable: bool(),
  remark: remark(),
  listen: listen(),
  port: int().min(1).max(65_535),
  protocol: word().max(32),
  tag: tag(),
  expiryTime: amount().description('Unix ms; 0 for never'),
  total: amount().description('bytes; 0 for no limit'),
  disableFlow: bool(),
  shareAddr: shareAddr(),
  shareAddrStrategy: oneOf(...SHARE),
  subSortIndex: int().min(1),
  trafficReset: oneOf(...RESETS).description('when its counters and those of its clients begin anew'),
  trafficResetDay: int()
    .min(1)
    .max(31)
    .description('day of a monthly reset; one that a month lacks is its last'),
};

/** An inbound as it is kept. */
export const StoredInbound = shape({
  id: int().min(1),
  ...stored,
  settings: openObject(),
  streamSettings: openObject(),
  sniffing: openObject(),
  lastTrafficResetTime: amount(),
  depletedCause: depletedCause(),
  countedSince: amount().description('Unix ms from which the present period of trafficReset counts'),
});
export type Inbound = Static<typeof StoredInbound>;

/** In the JSON texts that hold no clients. */
const SEPARATORS = 20_000;

const optionalFields = {
  enable: optional(stored.enable),
  remark: optional(stored.remark),
  listen: optional(stored.listen),
  tag: optional(stored.tag),
  expiryTime: optional(stored.expiryTime),
  total: optional(stored.total),
  disableFlow: optional(stored.disableFlow),
  shareAddr: optional(stored.shareAddr),
  shareAddrStrategy: optional(stored.shareAddrStrategy),
  subSortIndex: optional(stored.subSortIndex),
  trafficReset: optional(stored.trafficReset),
  trafficResetDay: optional(stored.trafficResetDay),
  settings: optional(jsonObject()),
  streamSettings: optional(jsonObject(SEPARATORS)),
  sniffing: optional(jsonObject(SEPARATORS)),
};
export const AddInbound = shape({
  ...optionalFields,
  port: stored.port,
  protocol: stored.protocol,
}).example({
  remark: 'vless over TCP',
  protocol: 'vless',
  listen: '127.0.0.1',
  port: 24_430,
  streamSettings: { network: 'tcp', security: 'none' },
});
export type AddInbound = Static<typeof AddInbound>;
/** What is left out stays as it is. */
export const UpdateInbound = shape({
  ...optionalFields,
  port: optional(stored.port),
  protocol: optional(stored.protocol),
}).example({ remark: 'another name', total: 107_374_182_400 });
export type UpdateInbound = Static<typeof UpdateInbound>;

/** Settings of a fresh inbound, as far as the caller leaves them out. */
export const FRESH = {
  enable: true,
  remark: '',
  listen: '',
  tag: '',
  expiryTime: 0,
  total: 0,
  disableFlow: false,
  shareAddr: '',
  shareAddrStrategy: 'node',
  subSortIndex: 1,
  trafficReset: 'never',
  trafficResetDay: 1,
  settings: {},
  streamSettings: {},
  sniffing: {},
  lastTrafficResetTime: 0,
  depletedCause: null,
  countedSince: 0,
} as const satisfies Partial<Inbound>;

/** Open: what other plugins know of an inbound stands in it as well. */
export const InboundReply = shape({
  id: int(),
  ...stored,
  lastTrafficResetTime: amount(),
  depletedCause: depletedCause(),
  up: amount(),
  down: amount(),
  settings: nullable(openObject()),
  streamSettings: nullable(openObject()),
  sniffing: nullable(openObject()),
  clientStats: list(openObject()),
  fallbackParent: nullable(anything()),
  nodeId: nullable(int()),
  originNodeGuid: text(),
}).unknown(true);

export const InboundOption = shape({
  id: int(),
  remark: text(),
  tag: text(),
  protocol: text(),
  port: int(),
  enable: bool(),
  listen: text(),
  network: text(),
  security: text(),
  tlsFlowCapable: bool(),
  ssMethod: text(),
  shareAddr: text(),
  shareAddrStrategy: oneOf(...SHARE),
  nodeId: nullable(int()),
  nodeAddress: text(),
  // Of protocols that are not there yet.
  awgServer: nullable(openObject()),
  tuicServer: nullable(openObject()),
  mtprotoDomain: text(),
  wgDns: text(),
  wgMtu: int(),
  wgPublicKey: text(),
});
export const InboundIds = shape({ ids: list(int()).max(10_000) }).example({ ids: [1] });
export const SortIndex = shape({ subSortIndex: stored.subSortIndex }).example({ subSortIndex: 2 });
export const BulkDeleted = shape({
  deleted: int(),
  skipped: list(shape({ id: int(), reason: text(), code: text() })),
});

export const InboundId = shape({ id: int().min(1).example(1) });
