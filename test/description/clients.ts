// The section about clients, as the API description has it: one client, and lists of them.
import type { Section } from './asking.js';
import { TRAFFIC } from './inbounds.js';
import type { Shape } from './shape.js';

const EXPORTED = {
  email: 'text',
  subId: 'text',
  uuid: 'text',
  totalGB: 'integer',
  expiryTime: 'ms',
  enable: 'boolean',
  reverse: 'object|null',
  comment: 'text',
  group: 'text',
  limitIp: 'integer',
  limitHwid: 'integer',
  tgId: 'integer',
  flow: 'text',
  reset: 'integer',
  resetDay: 'integer',
  resetMax: 'integer',
  createdAt: 'ms',
  updatedAt: 'ms',
} as const satisfies Shape;
export const CLIENT = {
  id: 'integer',
  ...EXPORTED,
  inboundIds: ['integer'],
  traffic: { up: 'integer', down: 'integer', enable: 'boolean' },
} as const satisfies Shape;
const LINK = {
  kind: 'text',
  value: 'text',
  remark: 'text',
  enable: 'boolean',
  expiryTime: 'ms',
  namePrefix: 'text',
} as const satisfies Shape;
export const WITH_LINKS = { ...CLIENT, externalLinks: [LINK] } as const satisfies Shape;
export const SUMMARY = {
  active: 'integer',
  deactive: ['text'],
  deactiveCount: 'integer',
  depleted: ['text'],
  depletedCount: 'integer',
  expiring: ['text'],
  expiringCount: 'integer',
  online: ['text'],
  onlineCount: 'integer',
  total: 'integer',
} as const satisfies Shape;
const DEVICE = {
  id: 'integer',
  firstSeen: 'ms',
  lastSeen: 'ms',
  userAgent: 'text',
  deviceOs: 'text',
  osVersion: 'text',
  deviceModel: 'text',
  fingerprint: 'text',
} as const satisfies Shape;
export const SKIPPED = [{ email: 'text', reason: 'text' }] as const satisfies Shape;

/** All of the record that a caller can set; the description names only some of them in each body. */
export const SENT = [
  ...['email', 'subId', 'uuid', 'totalGB', 'expiryTime', 'enable', 'reverse', 'comment', 'group', 'limitIp'],
  ...['limitHwid', 'tgId', 'flow', 'reset', 'resetDay', 'resetMax'],
];

const AT = '/panel/api/clients';
export const CLIENTS: Section = {
  [`GET ${AT}/list`]: { gives: [CLIENT] },
  [`GET ${AT}/list/paged`]: {
    query: [
      ...['page', 'pageSize', 'search', 'status', 'filter', 'protocol', 'inboundIds', 'inbound', 'sort'],
      ...['order', 'expiryFrom', 'expiryTo', 'usageFrom', 'usageTo', 'autoRenew', 'hasTgId', 'hasComment'],
      'group',
    ],
    gives: {
      filtered: 'integer',
      groups: ['text'],
      items: [CLIENT],
      page: 'integer',
      pageSize: 'integer',
      total: 'integer',
      summary: SUMMARY,
    },
  },
  [`GET ${AT}/get/{email}`]: { gives: WITH_LINKS },
  [`GET ${AT}/get/tgId/{tgId}`]: { gives: { ...CLIENT, sameTgId: ['text'] } },
  [`POST ${AT}/add`]: {
    takes: ['client', 'inboundIds', ...SENT.map((name) => `client.${name}`)],
    gives: 'null',
  },
  [`POST ${AT}/update/{email}`]: { takes: SENT, gives: 'null' },
  [`POST ${AT}/del/{email}`]: { query: ['keepTraffic'], gives: 'null' },
  [`POST ${AT}/{email}/attach`]: { takes: ['inboundIds'], gives: 'any' },
  [`POST ${AT}/{email}/detach`]: { takes: ['inboundIds'], gives: 'any' },
  [`POST ${AT}/{email}/externalLinks`]: {
    takes: ['externalLinks', ...Object.keys(LINK).map((name) => `externalLinks[].${name}`)],
    gives: 'any',
  },
  [`GET ${AT}/export`]: { gives: [{ client: { id: 'text', ...EXPORTED }, inboundIds: ['integer'] }] },
  [`POST ${AT}/import`]: { takes: ['data'], gives: { created: 'integer', skipped: SKIPPED } },
  [`POST ${AT}/resetTraffic/{email}`]: { gives: 'any' },
  [`POST ${AT}/updateTraffic/{email}`]: { takes: ['upload', 'download'], gives: 'any' },
  [`POST ${AT}/ips/{email}`]: { gives: 'any' },
  [`POST ${AT}/clearIps/{email}`]: { gives: 'any' },
  [`POST ${AT}/hwids/{email}`]: { gives: [DEVICE] },
  [`DELETE ${AT}/hwids/{email}`]: { gives: 'any' },
  [`DELETE ${AT}/hwids/{email}/{deviceId}`]: { gives: 'any' },
  [`GET ${AT}/traffic/{email}`]: { gives: TRAFFIC },
  [`GET ${AT}/subLinks/{subId}`]: { gives: ['text'] },
  [`POST ${AT}/appLink/{id}`]: { gives: { encryptedLink: 'text' } },
  [`GET ${AT}/links/{email}`]: { gives: ['text'] },
};

export const MANY_CLIENTS: Section = {
  [`POST ${AT}/resetAllTraffics`]: { gives: 'any' },
  [`POST ${AT}/delDepleted`]: { gives: { deleted: 'integer' } },
  [`POST ${AT}/delOrphans`]: { gives: { deleted: 'integer' } },
  [`POST ${AT}/bulkAdjust`]: {
    takes: ['emails', 'addDays', 'addBytes', 'flow', 'limitHwid', 'adTag'],
    gives: { adjusted: 'integer', skipped: SKIPPED },
  },
  [`POST ${AT}/bulkEnable`]: { takes: ['emails'], gives: { changed: 'integer', skipped: SKIPPED } },
  [`POST ${AT}/bulkDisable`]: { takes: ['emails'], gives: { changed: 'integer', skipped: SKIPPED } },
  [`POST ${AT}/bulkDel`]: {
    takes: ['emails', 'keepTraffic'],
    gives: { deleted: 'integer', skipped: SKIPPED },
  },
  [`POST ${AT}/bulkCreate`]: {
    takes: ['[].client', '[].inboundIds', ...SENT.map((name) => `[].client.${name}`)],
    gives: { created: 'integer', skipped: SKIPPED },
  },
  [`POST ${AT}/groups/bulkAdd`]: { takes: ['emails', 'group'], gives: { affected: 'integer' } },
  [`POST ${AT}/groups/bulkRemove`]: { takes: ['emails'], gives: { affected: 'integer' } },
  [`POST ${AT}/bulkAttach`]: {
    takes: ['emails', 'inboundIds'],
    gives: { attached: ['text'], skipped: ['text'], errors: ['text'] },
  },
  [`POST ${AT}/bulkDetach`]: {
    takes: ['emails', 'inboundIds'],
    gives: { detached: ['text'], skipped: ['text'], errors: ['text'] },
  },
  [`POST ${AT}/bulkResetTraffic`]: { takes: ['emails'], gives: { affected: 'integer' } },
  [`GET ${AT}/groups`]: { gives: [{ name: 'text', clientCount: 'integer' }] },
  [`GET ${AT}/groups/{name}/emails`]: { gives: ['text'] },
  [`POST ${AT}/groups/create`]: { takes: ['name'], gives: { name: 'text' } },
  [`POST ${AT}/groups/rename`]: { takes: ['oldName', 'newName'], gives: { affected: 'integer' } },
  [`POST ${AT}/groups/delete`]: { takes: ['name'], gives: { affected: 'integer' } },
  [`POST ${AT}/groups/resetTraffic`]: { takes: ['name'], gives: { name: 'text' } },
  [`POST ${AT}/onlines`]: { gives: ['text'] },
  [`POST ${AT}/onlinesByGuid`]: { gives: { '*': ['text'] } },
  [`POST ${AT}/clientIpsByGuid`]: { gives: { '*': { '*': [{ ip: 'text', timestamp: 'integer' }] } } },
  [`POST ${AT}/activeInbounds`]: { gives: { '*': ['text'] } },
  [`POST ${AT}/lastOnline`]: { gives: { '*': 'seconds' } },
};
