// The section about server tools, as the API description has it: without a core, with one, and the database.
import type { Section } from './asking.js';
import type { Shape } from './shape.js';

const SIZE = { current: 'integer', total: 'integer' } as const satisfies Shape;
const STATUS = {
  cpu: 'number',
  mem: SIZE,
  swap: SIZE,
  disk: SIZE,
  netIO: { up: 'integer', down: 'integer' },
  engine: { state: 'text', version: 'text' },
  tcpCount: 'integer',
  load: { load1: 'number', load5: 'number', load15: 'number' },
  loads: ['number'],
} as const satisfies Shape;
export const SCAN = {
  alpn: 'text',
  certChainBytes: 'integer',
  certChainValid: 'boolean',
  certIssuer: 'text',
  certSubject: 'text',
  certValid: 'boolean',
  curveID: 'text',
  feasible: 'boolean',
  h2: 'boolean',
  host: 'text',
  ip: 'text',
  latencyMs: 'integer',
  notAfter: 'iso',
  port: 'integer',
  privateTarget: 'boolean',
  reason: 'text',
  serverNames: ['text'],
  target: 'text',
  tls13: 'boolean',
  tlsVersion: 'text',
  x25519: 'boolean',
} as const satisfies Shape;
const PEER = {
  allowedIPs: 'text',
  down: 'integer',
  email: 'text',
  endpoint: 'text',
  handshake: 'ms',
  inboundId: 'integer',
  interface: 'text',
  online: 'boolean',
  tag: 'text',
  up: 'integer',
} as const satisfies Shape;
const POINT = { t: 'seconds', v: 'number' } as const satisfies Shape;

const COPY = { fileName: 'text', size: 'integer', sha256: 'text', data: 'text' } as const satisfies Shape;

export const METRICS = ['cpu', 'mem', 'netUp', 'netDown', 'online', 'load1', 'load5', 'load15'];
export const ENGINE_METRICS = ['xrAlloc', 'xrSys', 'xrHeapObjects', 'xrNumGC', 'xrPauseNs'];
export const BUCKETS = [2, 30, 60, 120, 180, 300];

const AT = '/panel/api/server';
export const SERVER: Section = {
  'GET /panel/api/openapi.json': { gives: 'any' },
  [`GET ${AT}/status`]: { gives: STATUS },
  [`GET ${AT}/banGuardStatus`]: {
    gives: { enabled: 'boolean', installed: 'boolean', usable: 'boolean', windows: 'boolean' },
  },
  [`GET ${AT}/cpuHistory/{bucket}`]: { gives: 'any' },
  [`GET ${AT}/history/{metric}/{bucket}`]: { gives: [POINT] },
  [`GET ${AT}/getPanelUpdateInfo`]: { gives: 'any' },
  [`GET ${AT}/getUpdateStatus`]: {
    gives: { exitCode: 'integer', finishedAt: 'seconds', runId: 'text', state: 'text' },
  },
  [`POST ${AT}/updatePanel`]: { gives: { runId: 'text' } },
  [`POST ${AT}/setUpdateChannel`]: { takes: ['dev'], gives: 'any' },
  [`GET ${AT}/getNewUUID`]: { gives: { uuid: 'text' } },
  [`GET ${AT}/getWebCertFiles`]: { gives: { webCertFile: 'text', webKeyFile: 'text' } },
  [`GET ${AT}/getNewX25519Cert`]: { gives: { privateKey: 'text', publicKey: 'text' } },
  [`GET ${AT}/getNewmldsa65`]: { gives: { seed: 'text', verify: 'text' } },
  [`GET ${AT}/getNewmlkem768`]: { gives: { client: 'text', seed: 'text' } },
  [`GET ${AT}/getNewVlessEnc`]: {
    gives: { auths: [{ id: 'integer', key: 'text', label: 'text', encryption: 'text', decryption: 'text' }] },
  },
  [`POST ${AT}/logs/{count}`]: { gives: ['text'] },
  // Peers need a tunnel, which needs root: plugins/amneziawg/test/tunnel.core.full.test.ts has some.
  [`POST ${AT}/amneziawglogs/{count}`]: { gives: { events: ['text'], peers: [PEER], running: 'boolean' } },
  [`POST ${AT}/getNewEchCert`]: { takes: ['sni'], gives: 'any' },
  [`POST ${AT}/getCertHash`]: { takes: ['certFile'], gives: ['text'] },
  [`POST ${AT}/getRemoteCertHash`]: { takes: ['server'], gives: ['text'] },
  [`POST ${AT}/scanRealityTarget`]: { takes: ['target'], gives: SCAN },
  [`POST ${AT}/scanRealityTargets`]: { gives: [SCAN] },
  [`GET ${AT}/clientIps`]: { gives: [{ clientEmail: 'text', id: 'integer', ips: 'any' }] },
  [`POST ${AT}/clientIps`]: {
    takes: ['[].clientEmail', '[].ips', '[].ips[].ip', '[].ips[].timestamp'],
    gives: 'any',
  },
};

export const SERVER_WITH_CORE: Section = {
  [`GET ${AT}/engineMetricsState`]: { gives: 'any' },
  [`GET ${AT}/engineMetricsHistory/{metric}/{bucket}`]: { gives: [POINT], mayBeEmpty: true },
  [`GET ${AT}/engineObservatory`]: { gives: 'any' },
  [`GET ${AT}/engineObservatoryHistory/{tag}/{bucket}`]: { gives: [POINT], mayBeEmpty: true },
  [`GET ${AT}/getEngineVersion`]: { gives: ['text'] },
  [`GET ${AT}/getConfigJson`]: { gives: 'object' },
  [`POST ${AT}/stopEngineService`]: { gives: 'any' },
  [`POST ${AT}/restartEngineService`]: { gives: 'any' },
  [`POST ${AT}/installEngine/{version}`]: { gives: 'any' },
  [`POST ${AT}/updateGeofile`]: { gives: 'any' },
  [`POST ${AT}/updateGeofile/{filename}`]: { gives: 'any' },
  [`POST ${AT}/enginelogs/{count}`]: {
    gives: [
      {
        DateTime: 'iso',
        Email: 'text',
        Event: 'integer',
        FromAddress: 'text',
        Inbound: 'text',
        Outbound: 'text',
        ToAddress: 'text',
      },
    ],
  },
};

export const DATABASE: Section = {
  [`GET ${AT}/getDb`]: { gives: COPY },
  [`GET ${AT}/getMigration`]: { gives: COPY },
  [`POST ${AT}/importDB`]: { takes: ['db'], gives: 'any' },
};
