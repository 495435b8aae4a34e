// The section about inbounds, as the API description has it.
import type { Section } from './asking.js';
import type { Shape } from './shape.js';

export const TRAFFIC = {
  id: 'integer',
  inboundId: 'integer',
  email: 'text',
  subId: 'text',
  uuid: 'text',
  enable: 'boolean',
  expiryTime: 'ms',
  total: 'integer',
  up: 'integer',
  down: 'integer',
  lastOnline: 'ms',
  lastSubFetch: 'ms',
  reset: 'integer',
  resetCount: 'integer',
  resetDay: 'integer',
  resetMax: 'integer',
} as const satisfies Shape;

const INBOUND = {
  id: 'integer',
  enable: 'boolean',
  remark: 'text',
  listen: 'text',
  port: 'integer',
  protocol: 'text',
  tag: 'text',
  expiryTime: 'ms',
  total: 'integer',
  up: 'integer',
  down: 'integer',
  settings: 'object|null',
  streamSettings: 'object|null',
  sniffing: 'object|null',
  clientStats: [TRAFFIC],
  disableFlow: 'boolean',
  fallbackParent: 'object|null',
  lastTrafficResetTime: 'ms',
  nodeId: 'integer|null',
  originNodeGuid: 'text',
  shareAddr: 'text',
  shareAddrStrategy: 'text',
  subSortIndex: 'integer',
  trafficReset: 'text',
  trafficResetDay: 'integer',
} as const satisfies Shape;

const SLIM = {
  id: 'integer',
  remark: 'text',
  settings: { clients: [{ email: 'text', enable: 'boolean' }], decryption: 'text' },
  clientStats: [TRAFFIC],
} as const satisfies Shape;

const OPTION = {
  awgServer: 'object|null',
  enable: 'boolean',
  id: 'integer',
  listen: 'text',
  mtprotoDomain: 'text',
  network: 'text',
  nodeAddress: 'text',
  nodeId: 'integer|null',
  port: 'integer',
  protocol: 'text',
  remark: 'text',
  security: 'text',
  shareAddr: 'text',
  shareAddrStrategy: 'text',
  ssMethod: 'text',
  tag: 'text',
  tlsFlowCapable: 'boolean',
  tuicServer: 'object|null',
  wgDns: 'text',
  wgMtu: 'integer',
  wgPublicKey: 'text',
} as const satisfies Shape;

const FALLBACK = {
  id: 'integer',
  masterId: 'integer',
  childId: 'integer',
  name: 'text',
  alpn: 'text',
  path: 'text',
  dest: 'text',
  xver: 'integer',
  sortOrder: 'integer',
} as const satisfies Shape;

const BODY = [
  ...['enable', 'remark', 'listen', 'port', 'protocol', 'expiryTime', 'total'],
  ...['settings', 'settings.clients', 'settings.clients[].id', 'settings.clients[].email'],
  ...['settings.decryption', 'settings.fallbacks'],
  ...['streamSettings', 'streamSettings.network', 'streamSettings.security'],
  ...['streamSettings.realitySettings.show', 'streamSettings.realitySettings.dest'],
  ...['sniffing', 'sniffing.enabled', 'sniffing.destOverride'],
];

const AT = '/panel/api/inbounds';
export const INBOUNDS: Section = {
  [`GET ${AT}/list`]: { gives: [INBOUND] },
  [`GET ${AT}/list/slim`]: { gives: [SLIM] },
  [`GET ${AT}/options`]: { gives: [OPTION] },
  [`GET ${AT}/allLinks`]: { gives: ['text'] },
  [`GET ${AT}/get/{id}`]: { gives: INBOUND },
  [`POST ${AT}/add`]: { takes: BODY, gives: 'any' },
  [`POST ${AT}/update/{id}`]: { takes: BODY, gives: 'any' },
  [`POST ${AT}/del/{id}`]: { gives: 'null' },
  [`POST ${AT}/bulkDel`]: {
    takes: ['ids'],
    gives: { deleted: 'integer', skipped: [{ id: 'integer', reason: 'text' }] },
  },
  [`POST ${AT}/setEnable/{id}`]: { takes: ['enable'], gives: 'null' },
  [`POST ${AT}/{id}/subSortIndex`]: { takes: ['subSortIndex'], gives: 'null' },
  [`POST ${AT}/{id}/resetTraffic`]: { gives: 'null' },
  [`POST ${AT}/{id}/delAllClients`]: { gives: { deleted: 'integer' } },
  [`POST ${AT}/resetAllTraffics`]: { gives: 'null' },
  [`POST ${AT}/import`]: { takes: ['data'], gives: 'null' },
  [`POST ${AT}/pushClientTraffics`]: {
    takes: ['masterGuid', 'traffics', 'traffics[].email', 'traffics[].up', 'traffics[].down'],
    gives: 'any',
  },
  [`GET ${AT}/{id}/fallbacks`]: { gives: [FALLBACK] },
  [`POST ${AT}/{id}/fallbacks`]: {
    takes: [
      ...['fallbacks', 'fallbacks[].childId', 'fallbacks[].path', 'fallbacks[].alpn'],
      ...['fallbacks[].dest', 'fallbacks[].xver'],
    ],
    gives: 'any',
  },
};
