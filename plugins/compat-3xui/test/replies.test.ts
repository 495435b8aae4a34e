// Replies as older programs need them, where the panel of a test has nothing to show.
import test from 'ava';
import type { Input } from '../adapted-route.js';
import type { Call } from '../names.js';
import { shapes } from '../replies.js';

const shaped = (call: Call, obj: unknown) =>
  shapes[call]?.(obj, undefined as unknown as Input, () => Promise.reject(new Error('asks for nothing')));

test('every part of the config of the core has what py3xui wants of it', (t) => {
  const CONFIG = 'GET /panel/api/server/getConfigJson';
  const shown = shaped(CONFIG, {
    log: { loglevel: 'warning' },
    dns: { servers: ['1.1.1.1', { address: '8.8.8.8', port: 54 }] },
    inbounds: [
      { port: 1, streamSettings: { network: 'ws' }, sniffing: { destOverride: ['tls'] } },
      { tag: 'bare' },
    ],
    outbounds: [{ protocol: 'freedom' }],
    more: 1,
  }) as Record<string, never>;
  t.like(shown, {
    log: { access: '', loglevel: 'warning', maskAddress: '', dnsLog: false, error: '' },
    api: { services: [], tag: '' },
    dns: { queryStrategy: '', tag: '', enableParallelQuery: false },
    outbounds: [{ protocol: 'freedom', tag: '', settings: {} }],
    more: 1,
  });
  t.deepEqual(shown['inbounds'], [
    {
      port: 1,
      settings: {},
      streamSettings: { network: 'ws', security: 'none' },
      sniffing: { enabled: false, destOverride: ['tls'] },
    },
    { port: 0, settings: {}, tag: 'bare' },
  ] as never);
  const { servers } = shown['dns'] as unknown as { readonly servers: readonly object[] };
  t.like(servers[0], { address: '1.1.1.1', port: 53, domains: [], skipFallback: false });
  t.like(servers[1], { address: '8.8.8.8', port: 54, domains: [], skipFallback: false });
  t.false('policy' in shown, 'no part is invented but the api');
});

test('the status has the core under the name that programs look for, whatever its state', (t) => {
  const engine = { state: 'error', errorMsg: 'it fell', version: '26' };
  t.deepEqual(shaped('GET /panel/api/server/status', { cpu: 1, engine }), { cpu: 1, engine, xray: engine });
});

test('the settings of the core have both names', (t) => {
  t.deepEqual(shaped('POST /panel/api/engine/', { engineSetting: '{}', tags: [] }), {
    engineSetting: '{}',
    xraySetting: '{}',
    tags: [],
  });
});

test('by its older name, the settings of the core are a text, whose parts are no texts', (t) => {
  const ours = {
    engineSetting: '{"outbounds":[]}',
    inboundTags: '["in"]',
    clientReverseTags: '[]',
    outboundTestUrl: 'https://example.com/',
    subscriptionOutboundTags: '["sub1-One"]',
  };
  const text = shaped('POST /panel/api/xray/', ours);
  t.is(typeof text, 'string');
  t.deepEqual(JSON.parse(String(text)), {
    xraySetting: { outbounds: [] },
    inboundTags: ['in'],
    clientReverseTags: [],
    outboundTestUrl: 'https://example.com/',
    subscriptionOutboundTags: ['sub1-One'],
  });
});
