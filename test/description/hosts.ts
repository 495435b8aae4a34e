// The section about hosts, as the API description has it.
import type { Section } from './asking.js';
import type { Shape } from './shape.js';

const SETTINGS = {
  allowInsecure: 'boolean',
  alpn: ['text'],
  cipherSuites: 'text',
  echConfigList: 'text',
  excludeFromSubTypes: ['text'],
  finalMask: 'text',
  fingerprint: 'text',
  hostHeader: 'text',
  isDisabled: 'boolean',
  isHidden: 'boolean',
  keepSniBlank: 'boolean',
  altIpVersion: 'text',
  altX25519: 'boolean',
  muxParams: 'text|null',
  nodeGuids: ['text'],
  overrideSniFromAddress: 'boolean',
  path: 'text',
  pinnedPeerCertSha256: ['text'],
  port: 'integer',
  remark: 'text',
  security: 'text',
  serverDescription: 'text',
  shuffleHost: 'boolean',
  sni: 'text',
  sockoptParams: 'text|null',
  sortOrder: 'integer',
  tags: ['text'],
  verifyPeerCertByName: 'text',
  vlessRoute: 'text',
} as const satisfies Shape;

export const HOST_GROUP = { groupId: 'text', hosts: ['text'], inboundIds: ['integer'], ...SETTINGS } as const;
const HOST_ROW = {
  groupId: 'text',
  id: 'integer',
  inboundId: 'integer',
  address: 'text',
  createdAt: 'ms',
  updatedAt: 'ms',
  ...SETTINGS,
} as const;
const BODY = ['inboundIds', 'hosts', ...Object.keys(SETTINGS)];

const AT = '/panel/api/hosts';
export const HOSTS: Section = {
  [`GET ${AT}/list`]: { gives: [HOST_GROUP] },
  [`GET ${AT}/get/{groupId}`]: { gives: HOST_GROUP },
  [`GET ${AT}/byInbound/{inboundId}`]: { gives: [HOST_GROUP] },
  [`GET ${AT}/tags`]: { gives: ['text'] },
  [`POST ${AT}/add`]: { takes: BODY, gives: [HOST_ROW] },
  [`POST ${AT}/update/{groupId}`]: { takes: BODY, gives: [HOST_ROW] },
  [`POST ${AT}/del/{groupId}`]: { gives: 'null' },
  [`POST ${AT}/setEnable/{groupId}`]: { takes: ['enable'], gives: 'null' },
  [`POST ${AT}/reorder`]: { takes: ['ids'], gives: 'null' },
  [`POST ${AT}/bulk/add`]: {
    takes: ['inboundIds', 'hosts', 'remark', 'port', 'security', 'isDisabled'],
    gives: [HOST_ROW],
  },
  [`POST ${AT}/bulk/setEnable`]: { takes: ['ids', 'enable'], gives: 'null' },
  [`POST ${AT}/bulk/del`]: { takes: ['ids'], gives: 'null' },
};
