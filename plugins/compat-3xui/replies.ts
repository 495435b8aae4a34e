// What older programs look for in replies, beside what is there.
import type { Input, Values } from './adapted-route.js';
import { mayBeCentral } from './centrals.js';
import type { Call } from './names.js';
import { withOldNames } from './setting-names.js';

/** Handles another route for the caller of this one. */
export type Ask = (call: Call, input: Input, params?: Values) => Promise<unknown>;
export type Shape = (obj: unknown, input: Input, ask: Ask) => unknown;

const record = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};
const isEmpty = (value: unknown): boolean => Object.keys(record(value)).length === 0;

/** The core has defaults for these. */
const STREAM: Values = { network: 'tcp', security: 'none' };
const SNIFFING: Values = { enabled: false };

/** py3xui takes no empty object for a stream, none without both of these, and no sniffing without its switch. */
const inbound = (shown: unknown): Values => {
  const { streamSettings, sniffing, settings, ...rest } = record(shown);
  return {
    ...rest,
    settings: settings ?? {},
    streamSettings: isEmpty(streamSettings) ? '' : { ...STREAM, ...record(streamSettings) },
    sniffing: { ...SNIFFING, ...record(sniffing) },
  };
};

const status = (shown: unknown): unknown => ({ ...record(shown), xray: record(shown)['engine'] });

/** Fields that py3xui wants in every part of the core's config that is there. */
const CONFIG_PARTS: Readonly<Record<string, Values>> = {
  log: { access: '', dnsLog: false, error: '', loglevel: '', maskAddress: '' },
  policy: { levels: {}, system: {} },
  metrics: { listen: '', tag: '' },
  api: { services: [], tag: '' },
  routing: { domainStrategy: '', rules: [] },
  dns: { enableParallelQuery: false, queryStrategy: '', servers: [], tag: '' },
};
const DNS_SERVER = {
  address: '',
  disableCache: false,
  domains: [],
  expectIPs: [],
  finalQuery: false,
  port: 53,
  queryStrategy: '',
  skipFallback: false,
  unexpectedIPs: [],
};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const configInbound = (one: Values): Values => ({
  port: 0,
  settings: {},
  ...one,
  ...(one['streamSettings'] !== undefined && {
    streamSettings: { ...STREAM, ...record(one['streamSettings']) },
  }),
  ...(one['sniffing'] !== undefined && { sniffing: { ...SNIFFING, ...record(one['sniffing']) } }),
});

function config(shown: unknown): unknown {
  const all = record(shown);
  const parts = Object.entries(CONFIG_PARTS).flatMap(([name, defaults]) =>
    name in all || name === 'api' ? [[name, { ...defaults, ...record(all[name]) }] as const] : [],
  );
  const complete: Record<string, unknown> = {
    ...all,
    ...Object.fromEntries(parts),
    inbounds: list(all['inbounds']).map((one) => configInbound(record(one))),
    outbounds: list(all['outbounds']).map((one) => ({ tag: '', settings: {}, ...record(one) })),
  };
  if ('dns' in complete) {
    const dns = record(complete['dns']);
    const servers = list(dns['servers']).map((one) =>
      typeof one === 'string' ? { ...DNS_SERVER, address: one } : { ...DNS_SERVER, ...record(one) },
    );
    complete['dns'] = { ...dns, servers };
  }
  return complete;
}

/** An address as text, with when it was seen last. */
const addresses = (shown: unknown): unknown =>
  list(shown).map((one) => `${String(record(one)['ip'])} (${String(record(one)['time'])})`);

const parsed = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text)) as unknown;
  } catch {
    return text;
  }
};

/** A text of JSON, whose parts are JSON and not texts. */
function coreSettings(shown: unknown): string {
  const { engineSetting, inboundTags, clientReverseTags, subscriptionOutboundTags, ...rest } = record(shown);
  return JSON.stringify({
    ...rest,
    xraySetting: parsed(engineSetting),
    inboundTags: parsed(inboundTags),
    clientReverseTags: parsed(clientReverseTags),
    subscriptionOutboundTags: parsed(subscriptionOutboundTags),
  });
}

/** By the call of ours, or by its other name where that replies in another way. */
export const shapes: Readonly<Partial<Record<Call, Shape>>> = {
  'GET /panel/api/server/status': status,
  'GET /panel/api/server/getConfigJson': config,
  'POST /panel/api/setting/all': (shown) => withOldNames(record(shown)),
  'POST /panel/api/engine/': (shown) => ({ ...record(shown), xraySetting: record(shown)['engineSetting'] }),
  'POST /panel/api/xray/': coreSettings,
  'GET /panel/api/inbounds/get/{id}': inbound,
  'POST /panel/api/inbounds/add': inbound,
  'POST /panel/api/inbounds/update/{id}': inbound,
  // Theirs has the settings and all clients of every inbound. Counters stay those of this panel alone: a central takes
  // differences of them.
  'GET /panel/api/inbounds/list': async (shown, input, ask) => {
    const whole: Values[] = [];
    for (const { id, clientStats } of list(shown) as {
      readonly id: number;
      readonly clientStats: unknown;
    }[]) {
      const got = inbound(await ask('GET /panel/api/inbounds/get/{id}', input, { id }));
      whole.push({ ...got, clientStats });
    }
    return whole;
  },
  // Theirs has milliseconds; other programs of that kind do not ask.
  'POST /panel/api/clients/lastOnline': (shown, input) =>
    mayBeCentral(input)
      ? Object.fromEntries(Object.entries(record(shown)).map(([email, at]) => [email, Number(at) * 1000]))
      : shown,
  'POST /panel/api/clients/ips/{email}': addresses,
  'GET /panel/api/clients/get/{email}': (shown) => ({ ...record(shown), client: shown }),
};
