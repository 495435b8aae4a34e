// The section about nodes, as the API description has it.
import type { Section } from './asking.js';
import type { Shape } from './shape.js';

export const NODE = {
  id: 'integer',
  guid: 'text',
  parentGuid: 'text',
  name: 'text',
  remark: 'text',
  scheme: 'text',
  address: 'text',
  port: 'integer',
  basePath: 'text',
  apiToken: 'text',
  enable: 'boolean',
  allowPrivateAddress: 'boolean',
  transitive: 'boolean',
  inboundSyncMode: 'text',
  inboundTags: ['text'],
  outboundTag: 'text',
  tlsVerifyMode: 'text',
  pinnedCertSha256: 'text',
  status: 'text',
  lastError: 'text',
  lastHeartbeat: 'seconds',
  createdAt: 'seconds',
  updatedAt: 'seconds',
  configDirty: 'boolean',
  configDirtyAt: 'integer',
  latencyMs: 'integer',
  cpuPct: 'number',
  memPct: 'number',
  netUp: 'integer',
  netDown: 'integer',
  uptimeSecs: 'integer',
  inboundCount: 'integer',
  clientCount: 'integer',
  activeCount: 'integer',
  onlineCount: 'integer',
  depletedCount: 'integer',
  disabledCount: 'integer',
  panelVersion: 'text',
  engineState: 'text',
  engineError: 'text',
  engineVersion: 'text',
} as const satisfies Shape;
const PROBE = {
  cpuPct: 'number',
  error: 'text',
  latencyMs: 'integer',
  memPct: 'number',
  panelVersion: 'text',
  status: 'text',
  uptimeSecs: 'integer',
  engineError: 'text',
  engineState: 'text',
  engineVersion: 'text',
} as const satisfies Shape;
const REACH = ['scheme', 'address', 'port', 'basePath'];
const BODY = ['name', 'remark', ...REACH, 'apiToken', 'enable', 'allowPrivateAddress'];
const AT = '/panel/api/nodes';

export const NODES: Section = {
  [`GET ${AT}/list`]: { gives: [NODE] },
  [`POST ${AT}/mtls/ca`]: { gives: { caCert: 'text' } },
  [`POST ${AT}/mtls/trustCA`]: { takes: ['caCert'], gives: 'null' },
  [`GET ${AT}/get/{id}`]: { gives: NODE },
  [`GET ${AT}/webCert/{id}`]: { gives: { webCertFile: 'text', webKeyFile: 'text' } },
  [`POST ${AT}/add`]: { takes: BODY, gives: 'null' },
  [`POST ${AT}/update/{id}`]: { takes: BODY, gives: 'null' },
  [`POST ${AT}/del/{id}`]: { gives: 'null' },
  [`POST ${AT}/setEnable/{id}`]: { takes: ['enable'], gives: 'null' },
  [`POST ${AT}/test`]: { takes: [...REACH, 'apiToken'], gives: PROBE },
  [`POST ${AT}/certFingerprint`]: { takes: REACH, gives: 'text' },
  [`POST ${AT}/inbounds`]: {
    takes: ['name', ...REACH, 'apiToken'],
    gives: [{ tag: 'text', remark: 'text', protocol: 'text', port: 'integer' }],
  },
  [`POST ${AT}/probe/{id}`]: { gives: 'any' },
  [`POST ${AT}/updatePanel`]: {
    takes: ['ids', 'dev'],
    gives: [{ id: 'integer', name: 'text', ok: 'boolean', error: 'text' }],
  },
  [`GET ${AT}/history/{id}/{metric}/{bucket}`]: { gives: 'any' },
  // Of the section about server tools: it shows nodes.
  'GET /panel/api/server/descendants': {
    gives: [{ guid: 'text', parentGuid: 'text', name: 'text', address: 'text', status: 'text' }],
  },
};
