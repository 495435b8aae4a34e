// Writes the config file: the caller's base and inbounds, and what the driver needs for the API and the counters.
import { CORE_API_TAG } from '../../core-guard/contract.js';
import {
  CoreRefused,
  type CoreBase,
  type CoreInbound,
  type InboundWithUsers,
  type Json,
  type JsonObject,
} from '../driver.js';
import type { AccountCodecs } from './account-codecs.js';

/** Tag of the api inbound and of the api's pseudo outbound; no inbound of the caller may have it. */
export const API_TAG = CORE_API_TAG;

const CHUNK = 64 * 1024;

export interface ConfigPaths {
  /** absolute path of the api's Unix socket */
  readonly socket: string;
  readonly access: string;
  readonly error: string;
}

const object = (value: Json | undefined): JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : {};
const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

function policyOf(base: CoreBase): JsonObject {
  const policy = object(base['policy']);
  const levels = object(policy['levels']);
  return {
    ...policy,
    levels: {
      ...levels,
      '0': { ...object(levels['0']), statsUserUplink: true, statsUserDownlink: true, statsUserOnline: true },
    },
    // with inbound stats on, hysteria users have neither counters nor lines in the access log
    system: {
      ...object(policy['system']),
      statsInboundUplink: false,
      statsInboundDownlink: false,
      statsOutboundUplink: true,
      statsOutboundDownlink: true,
    },
  };
}

/** With ObservatoryService and nothing to observe the core does not start. */
const servicesOf = (base: CoreBase): readonly string[] => [
  'HandlerService',
  'StatsService',
  'RoutingService',
  'LoggerService',
  ...(isObserving(base) ? ['ObservatoryService'] : []),
];
const isObserving = (base: CoreBase): boolean =>
  [base['observatory'], base['burstObservatory']].some(
    (section) => section !== undefined && section !== null,
  );

/** It comes first: a rule of the caller could block the API. */
export const API_RULE = {
  type: 'field',
  inboundTag: [API_TAG],
  outboundTag: API_TAG,
  ruleTag: API_TAG,
} satisfies JsonObject;

/** Everything but the inbounds. */
function frame(base: CoreBase, paths: ConfigPaths, { names }: AccountCodecs): JsonObject {
  const routing = object(base['routing']);
  const log = object(base['log']);
  return {
    ...base,
    log: {
      ...log,
      // a line of level warning marks the end of the start
      loglevel: log['loglevel'] === 'debug' || log['loglevel'] === 'info' ? log['loglevel'] : 'warning',
      // on stdout, which has no reader after the panel stops, the core would die of SIGPIPE
      access: log['access'] === 'none' ? 'none' : paths.access,
      error: paths.error,
    },
    api: { tag: API_TAG, services: servicesOf(base) },
    stats: {},
    policy: policyOf(base),
    routing: {
      ...routing,
      rules: [API_RULE, ...list(routing['rules']).map((rule) => names.inRule(object(rule)))],
    },
  };
}

/** A TCP port would be open to every local user, and shared with a second core without an error. */
const apiInbound = (socket: string): JsonObject => ({
  tag: API_TAG,
  listen: `${socket},0600`,
  protocol: 'tunnel',
  // without port every call ends in ECONNRESET, without network no socket appears
  settings: { address: '127.0.0.1', port: 1, network: 'unix' },
});

/** Returns the inbound's JSON without the panel's users, but with the placeholder, where its protocol has users. Users of its own stay where they are part of the config; the API would not report them as its own. Throws CoreRefused for an inbound that contradicts itself. */
export function structureOf(inbound: CoreInbound, codecs: AccountCodecs): JsonObject {
  const { tag, protocol, config } = inbound;
  if (tag === '' || config['tag'] !== tag)
    throw new CoreRefused(
      `inbound ${JSON.stringify(tag)}: its config has the tag ${JSON.stringify(config['tag'])}`,
    );
  if (tag === API_TAG) throw new CoreRefused(`inbound ${tag}: this tag belongs to the panel, choose another`);
  const type = codecs.accounts.of(protocol);
  if (type !== undefined && config['protocol'] !== (type.protocol ?? protocol))
    throw new CoreRefused(
      `inbound ${tag}: its config has the protocol ${JSON.stringify(config['protocol'])}, and the account type ${protocol} is for ${type.protocol ?? protocol}; its \`protocol\` must be the name in the core`,
    );
  if (type === undefined) return config;
  const omit = type.users === 'api' ? (type.omit ?? []) : [];
  const settings = Object.fromEntries(
    Object.entries(object(config['settings'])).filter(([key]) => !omit.includes(key)),
  );
  const key = type.list ?? 'clients';
  const own = type.users === 'config' ? list(settings[key]) : [];
  return { ...config, settings: { ...settings, [key]: [...own, ...codecs.placeholder(inbound, settings)] } };
}

/** Yields the inbound's JSON with its users, in chunks. */
export function* inboundText(inbound: InboundWithUsers, codecs: AccountCodecs): Generator<string> {
  const { settings, ...rest } = structureOf(inbound, codecs);
  const key = codecs.accounts.of(inbound.protocol)?.list ?? 'clients';
  if (codecs.accounts.of(inbound.protocol) === undefined) {
    for (const user of inbound.users) codecs.json(user, inbound);
    yield JSON.stringify({ ...rest, ...(settings === undefined ? {} : { settings }) });
    return;
  }
  const { [key]: first, ...shared } = object(settings);
  yield `${JSON.stringify({ ...rest, settings: shared }).slice(0, -2)}${Object.keys(shared).length === 0 ? '' : ','}${JSON.stringify(key)}:[`;
  let comma = '';
  for (const placeholder of list(first)) {
    yield `${comma}${JSON.stringify(placeholder)}`;
    comma = ',\n';
  }
  for (const user of inbound.users) {
    yield `${comma}${JSON.stringify(codecs.json(user, inbound))}`;
    comma = ',\n';
  }
  yield ']}}';
}

function* pieces(
  base: CoreBase,
  inbounds: Iterable<InboundWithUsers>,
  paths: ConfigPaths,
  codecs: AccountCodecs,
): Generator<string> {
  if ('inbounds' in base) throw new CoreRefused('base: must not contain inbounds; pass them as inbounds');
  yield `${JSON.stringify(frame(base, paths, codecs)).slice(0, -1)},"inbounds":[${JSON.stringify(apiInbound(paths.socket))}`;
  const tags = new Set<string>();
  for (const inbound of inbounds) {
    if (tags.has(inbound.tag)) throw new CoreRefused(`inbound ${inbound.tag}: two inbounds have this tag`);
    tags.add(inbound.tag);
    yield ',\n';
    yield* inboundText(inbound, codecs);
  }
  yield ']}\n';
}

/**
 * Yields the whole config as JSON text, in chunks of about 64 KiB: a file of 100,000 users is never whole in memory.
 * Throws CoreRefused for a user or inbound that would crash the core.
 */
export function* configText(
  base: CoreBase,
  inbounds: Iterable<InboundWithUsers>,
  paths: ConfigPaths,
  codecs: AccountCodecs,
): Generator<string> {
  let chunk = '';
  for (const piece of pieces(base, inbounds, paths, codecs)) {
    chunk += piece;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
