// `subJsonDns`: the name servers of the documents. Source: xtls.github.io, DnsObject.
import Joi from 'joi';
import { isIP } from 'node:net';
import type { JsonObject } from '../../engine/contract.js';
import { domainProblem, networkProblem, serverProblem } from './addresses.js';
import { checked, fields, flag, line, lineThat, maybe, oneOrMore, parsed, whole } from './json-text.js';

const MOST = 1000;
const STRATEGIES = ['UseIP', 'UseIPv4', 'UseIPv6', 'UseSystem'];

const address = () => lineThat((text) => (isIP(text) ? undefined : `it is not an address: ${text}`));
const networks = () =>
  maybe(oneOrMore(lineThat((text) => (text === '*' ? undefined : networkProblem(text)))));
const domain = () => lineThat(domainProblem);
const common = {
  tag: maybe(line()),
  queryStrategy: maybe(Joi.valid(...STRATEGIES)),
  clientIp: maybe(address()),
  clientIP: maybe(address()),
  disableCache: flag(),
  serveStale: flag(),
  serveExpiredTTL: maybe(whole(0)),
};

const then = lineThat(serverProblem);
const otherwise = fields({
  ...common,
  address: lineThat(serverProblem),
  port: maybe(whole(0, 65_535)),
  domains: maybe(Joi.array().items(domain()).max(MOST)),
  expectedIPs: networks(),
  expectIPs: networks(),
  unexpectedIPs: networks(),
  skipFallback: flag(),
  finalQuery: flag(),
  timeoutMs: maybe(whole(0)),
});
const SERVER = Joi.alternatives().conditional(Joi.string(), { then, otherwise });
const SERVERS = Joi.array().items(SERVER).min(1).max(100);
const DNS = fields({
  ...common,
  servers: SERVERS,
  hosts: maybe(
    Joi.object()
      .pattern(domain(), Joi.alternatives(line(), Joi.array().items(line()).min(1)))
      .max(MOST),
  ),
  disableFallback: flag(),
  disableFallbackIfMatch: flag(),
  enableParallelQuery: flag(),
  useSystemHosts: flag(),
});

/** What documents have where nothing is set, around the servers. */
export const dnsOf = (servers: JsonObject[string]): JsonObject => ({
  tag: 'dns_out',
  queryStrategy: 'UseIP',
  servers,
});

/** Undefined where nothing is set. A list is that of the servers. */
export function readDns(text: string): JsonObject | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  return Array.isArray(value)
    ? dnsOf(checked(SERVERS, value) as JsonObject[string])
    : (checked(DNS, value) as JsonObject);
}
