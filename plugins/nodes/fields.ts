// The fields of a node as programs send and read them.
import Joi from 'joi';
import {
  bool,
  echoing,
  int,
  lenientInt,
  lenientText,
  list,
  nullable,
  num,
  oneOf,
  optional,
  port,
  shape,
  text,
} from '../../kernel/index.js';
import { version } from '../record-versions/contract.js';

export const MOST_TAGS = 1_000;
type Tag = ReturnType<typeof text>;
const count = () => int().min(0);
/** A form with a key once has a text where there could be a list. */
const inForms = Joi.extend({
  type: 'array',
  base: Joi.array(),
  coerce: { from: 'string', method: (sent: string) => ({ value: sent === '' ? [] : [sent] }) },
}) as { array(): Joi.ArraySchema };
const tags = () => inForms.array().items(text().max(255)).max(MOST_TAGS) as ReturnType<typeof list<Tag>>;
const scheme = () => oneOf('http', 'https');
const syncMode = () => oneOf('all', 'selected');
const tlsMode = () => oneOf('verify', 'skip', 'pin', 'mtls');
const status = () => oneOf('unknown', 'online', 'offline');

/** Where a panel is, and how it is called. */
const place = {
  scheme: optional(scheme()),
  address: optional(lenientText().max(255)).description('host name or address'),
  port: optional(lenientInt().min(1).max(65_535)),
  basePath: optional(lenientText().max(255)).description('begins and ends with a slash; slashes are added'),
  apiToken: optional(lenientText().max(4_096)).description('blank keeps the stored one; never returned'),
  allowPrivateAddress: optional(bool()),
  outboundTag: optional(lenientText().max(255)).description(
    'outbound of the core by which the node is called; blank: directly',
  ),
  tlsVerifyMode: optional(tlsMode()).description(
    'verify: public authorities; skip: any certificate; pin: the one of pinnedCertSha256; mtls: as verify (or the pinned one), and this panel shows a certificate of its own',
  ),
  pinnedCertSha256: optional(lenientText().max(128)).description(
    'SHA-256 of the certificate, in base64 or hex',
  ),
};
const record = {
  name: optional(lenientText().max(64)),
  remark: optional(lenientText().max(256)),
  enable: optional(bool()),
  inboundSyncMode: optional(syncMode()),
  inboundTags: optional(nullable(tags())),
  clearApiToken: optional(bool()).description('true removes the stored token'),
};
/** Keys of replies that programs send back. */
const ECHOED = [
  ...['id', 'guid', 'parentGuid', 'hasApiToken', 'transitive', 'status', 'lastError', 'lastHeartbeat'],
  ...['createdAt', 'updatedAt', 'configDirty', 'configDirtyAt', 'latencyMs', 'cpuPct', 'memPct', 'netUp'],
  ...['netDown', 'uptimeSecs', 'inboundCount', 'clientCount', 'activeCount', 'onlineCount', 'depletedCount'],
  ...[
    'disabledCount',
    'panelVersion',
    'engineState',
    'engineError',
    'engineVersion',
    'clockOffset',
    'problems',
    'version',
  ],
];
const example = {
  name: 'Paris',
  remark: 'second rack',
  scheme: 'https',
  address: 'paris.example.com',
  port: 2053,
  basePath: '/',
  apiToken: 'its-api-token',
  enable: false,
  allowPrivateAddress: false,
};
export const NodeBody = echoing(shape({ ...record, ...place }), ECHOED).example(example);
export const NewNodeBody = NodeBody.fork(['name', 'address'], (schema) => schema.required());
/** For calls of a panel that is not stored; with an `id`, what is left out is that of the stored node. */
export const PlaceBody = echoing(
  shape({ ...record, ...place, id: optional(lenientInt().min(0)) }),
  ECHOED,
).example({
  scheme: 'https',
  address: 'paris.example.com',
  port: 2053,
  basePath: '/',
  apiToken: 'its-api-token',
});

const problem = shape({
  code: oneOf('self', 'shared', 'other', 'noGuid', 'clock', 'loop'),
  message: text(),
});
export const NodeReply = shape({
  id: count().description('0: a node below a node, read-only here'),
  guid: text().description('of the panel there; blank until it has answered'),
  parentGuid: text().description('of the panel that has it as a node'),
  name: text(),
  remark: text(),
  scheme: scheme(),
  address: text(),
  port: port(),
  basePath: text(),
  apiToken: text().description('always blank; see hasApiToken'),
  hasApiToken: bool(),
  enable: bool(),
  allowPrivateAddress: bool(),
  transitive: bool(),
  inboundSyncMode: syncMode(),
  inboundTags: list(text()),
  outboundTag: text(),
  tlsVerifyMode: tlsMode(),
  pinnedCertSha256: text(),
  status: status(),
  lastError: text().description('why the last heartbeat failed, or which other panel answers'),
  lastHeartbeat: count().description('Unix seconds of the last good one; 0: never'),
  createdAt: count().description('Unix seconds'),
  updatedAt: count().description('Unix seconds'),
  configDirty: bool().description('changes wait to be sent'),
  configDirtyAt: count().description('Unix ms since when; 0: none wait'),
  latencyMs: count(),
  cpuPct: num().min(0),
  memPct: num().min(0),
  netUp: count().description('bytes a second'),
  netDown: count().description('bytes a second'),
  uptimeSecs: count(),
  inboundCount: count(),
  clientCount: count(),
  activeCount: count(),
  onlineCount: count(),
  depletedCount: count(),
  disabledCount: count(),
  panelVersion: text(),
  engineState: text(),
  engineError: text(),
  engineVersion: text(),
  clockOffset: int().description('seconds that its clock is ahead; below 0: behind'),
  problems: list(problem).description('what is wrong although it answers'),
  version: version(),
});

export const TestReply = shape({
  status: oneOf('online', 'offline'),
  error: text(),
  latencyMs: count(),
  cpuPct: num().min(0),
  memPct: num().min(0),
  uptimeSecs: count(),
  panelVersion: text(),
  engineState: text(),
  engineError: text(),
  engineVersion: text(),
  guid: text(),
  clockOffset: int(),
});
export const RemoteInbound = shape({
  id: count(),
  tag: text(),
  remark: text(),
  protocol: text(),
  listen: text(),
  port: count().max(65_535),
});
export const UpdateResult = shape({
  id: count(),
  name: text(),
  ok: bool(),
  error: text().description('blank when ok'),
});
export const NodeId = shape({ id: int().min(1).example(1) });
