import {
  bool,
  canonicalAddress,
  int,
  LARGE_BODY,
  lenientInt,
  list,
  mapOf,
  message,
  nullable,
  oneOf,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { CoreOutboundsApi, CoreRoutesApi } from '../engine/contract.js';
import type { LocalInboundsApi } from '../inbounds/contract.js';
import { holdingOpen } from '../outgoing/contract.js';
import type { Balancers } from './balancers.js';
import { errors } from './errors.js';
import {
  MOST_TESTED,
  OutboundField,
  OutboundsField,
  readOutbound,
  readOutbounds,
  readTested,
} from './request.js';
import { findRoute } from './route-question.js';
import { MODES, type OutboundTester } from './tester.js';
import type { OutboundWatch } from './watch.js';

interface Needs {
  readonly tester: OutboundTester;
  readonly balancers: Balancers;
  readonly watch: OutboundWatch;
  readonly coreRoutes: CoreRoutesApi | undefined;
  readonly configured: CoreOutboundsApi | undefined;
  readonly clients: ClientsApi | undefined;
  readonly inbounds: LocalInboundsApi | undefined;
}

const API = '/panel/api/engine';
const LONGEST_TAG = 4096;
const MOST_BALANCERS = 500;

const ms = () => optional(int().min(0)).description('ms');
const Result = shape({
  tag: text(),
  success: bool(),
  delay: int().min(0).description('ms; 0 when it failed'),
  error: optional(text()),
  mode: oneOf(...MODES).description(
    'what was done: outbounds over UDP, or behind others, are fetched through',
  ),
  httpStatus: optional(int()).description('any status is a success'),
  connectMs: ms(),
  tlsMs: ms(),
  ttfbMs: ms(),
  endpoints: optional(
    list(shape({ address: text(), success: bool(), delay: int().min(0), error: optional(text()) })),
  ).description('servers that were dialed, in mode tcp'),
  egress: optional(
    shape({
      ipv4: text().description('blank where nothing answered over IPv4'),
      ipv6: text().description('blank where nothing answered over IPv6'),
      country: text().description('two letters, or blank'),
      warp: text().description('`off`, `on` or `plus`: whether it leaves through Cloudflare WARP'),
    }),
  ).description('how the far end sees the outbound, in mode http; missing where nothing answered'),
});
const shared = {
  allOutbounds: optional(
    OutboundsField(
      'outbounds that the tested ones may dial through, as JSON text or as a list; without it, those of the config',
    ),
  ),
  mode: withDefault(oneOf(...MODES), 'http').description(
    'tcp: dials the servers; http: fetches through the outbound, and measures a second request; real: measures the first',
  ),
};
const EXAMPLE = {
  tag: 'office',
  protocol: 'socks',
  settings: { servers: [{ address: '127.0.0.1', port: 1080 }] },
};
/** A blank field of a form counts as missing. */
const readOthers = (sent: unknown) =>
  sent === undefined || sent === '' ? undefined : readOutbounds(sent, 'allOutbounds');
/** A text of one line: the core could not be asked with halves of characters. */
const line = (most: number) =>
  text()
    .max(most)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
const blank = (most: number) => withDefault(line(most).allow(''), '');

export const routes = ({
  tester,
  balancers,
  watch,
  coreRoutes,
  configured,
  clients,
  inbounds,
}: Needs): Route[] => [
  route({
    method: 'POST',
    path: `${API}/testOutbound`,
    name: 'engine.testOutbound',
    form: true,
    doc: 'Tests an outbound that need not be saved: in a core of its own, with the setting `outboundTestUrl`. A failure is a result, not an error.',
    bodyLimit: LARGE_BODY,
    body: shape({ outbound: OutboundField().required(), ...shared }).example({
      outbound: EXAMPLE,
      mode: 'tcp',
    }),
    reply: payload(Result),
    errors: [errors.NO_CORE, errors.CANNOT_TEST, errors.BUSY],
    handle: async ({ body: { outbound, allOutbounds, mode }, reply }) => {
      const outbounds = [readOutbound(outbound, 'outbound', (await configured?.all()) ?? [])];
      const all = readOthers(allOutbounds);
      const [result] = await holdingOpen(reply.progressed, () =>
        tester.test({ outbounds, all, mode, egress: true }),
      );
      if (!result) throw new Error('a test has no result');
      return result;
    },
  }),
  route({
    method: 'POST',
    path: `${API}/testOutbounds`,
    name: 'engine.testOutbounds',
    form: true,
    doc: `Tests up to ${MOST_TESTED} outbounds at once, all in one core; the results are in their order. One that the core rejects, or that crashes it, does not touch the others.`,
    bodyLimit: LARGE_BODY,
    body: shape({
      outbounds: OutboundsField(
        `at most ${MOST_TESTED} outbounds, or tags of those of the config, as JSON text or as a list`,
      ).required(),
      ...shared,
    }).example({ outbounds: [EXAMPLE], mode: 'tcp' }),
    reply: payload(list(Result)),
    errors: [errors.NO_CORE, errors.CANNOT_TEST, errors.BUSY],
    handle: async ({ body: { outbounds, allOutbounds, mode }, reply }) => {
      const tested = readTested(outbounds, 'outbounds', (await configured?.all()) ?? []);
      const all = readOthers(allOutbounds);
      return holdingOpen(reply.progressed, () => tester.test({ outbounds: tested, all, mode, egress: true }));
    },
  }),
  route({
    method: 'POST',
    path: `${API}/routeTest`,
    name: 'engine.routeTest',
    form: true,
    doc: 'Asks the running core where a connection would leave. `outboundTag` is blank when no rule takes it: it leaves by the first outbound. The addresses of a name are looked up where rules need them.',
    body: shape({
      inboundTag: blank(LONGEST_TAG),
      domain: blank(253),
      ip: withDefault(
        text()
          .allow('')
          .max(64)
          .custom((value: string) => {
            if (value !== '' && canonicalAddress(value) === undefined)
              throw new Error('must be an IP address');
            return value;
          })
          .example('203.0.113.7'),
        '',
      ),
      port: withDefault(lenientInt().min(0).max(65_535), 0),
      network: withDefault(oneOf('tcp', 'udp'), 'tcp'),
      protocol: blank(64).description('as the core sniffs it: `http`, `tls`, `bittorrent` …'),
      email: blank(320).description(
        'of a client of the inbound; any other text is taken as the name of a user',
      ),
    }).example({ domain: 'example.com', port: 443 }),
    reply: payload(
      shape({
        matched: bool().description('false: no rule takes it'),
        outboundTag: text(),
        isOwn: bool().description(
          'whether the outbound is one of the panel: `weir.blocked` takes private targets',
        ),
        groupTags: list(text()).description('balancers that it passes through, as far as the core says'),
      }),
    ),
    errors: [errors.NO_CORE],
    handle: ({ body }) => findRoute({ coreRoutes, clients, inbounds }, body),
  }),
  route({
    method: 'POST',
    path: `${API}/balancerStatus`,
    name: 'engine.balancerStatus',
    form: true,
    doc: 'What balancers of the running core choose from, and their overrides.',
    body: shape({
      tags: optional(
        line(100_000).custom((value: string) => {
          if (value.split(',').length > MOST_BALANCERS)
            throw new Error(`must name at most ${MOST_BALANCERS} balancers`);
          return value;
        }),
      ).description('tags, separated by commas; without it, all of the config'),
    }).example({ tags: 'pool' }),
    reply: payload(
      mapOf(
        shape({
          tag: text(),
          running: bool().description('whether the running core has it'),
          override: text().description('outbound that takes everything; blank for none'),
          selected: nullable(list(text())).description('null while it does not run'),
        }),
      ),
    ),
    handle: ({ body: { tags } }) => {
      const named = tags
        ?.split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== '');
      return balancers.status(named && [...new Set(named)]);
    },
  }),
  route({
    method: 'POST',
    path: `${API}/balancerOverride`,
    name: 'engine.balancerOverride',
    form: true,
    doc: 'Makes a balancer use one outbound, until it is told otherwise: also after a reload or a restart of the core or the panel. A blank `target` lets it choose by itself again.',
    body: shape({
      tag: word().required().max(LONGEST_TAG),
      target: blank(LONGEST_TAG).description('tag of an outbound'),
    }).example({ tag: 'pool', target: 'direct' }),
    reply: message(),
    errors: [errors.NO_BALANCER, errors.NO_OUTBOUND],
    handle: ({ body: { tag, target }, who }) => balancers.override(tag, target, who),
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/outbounds/health',
    name: 'outbounds.health',
    doc: 'How outbounds were at their last test on the schedule; empty while `outboundTestMinutes` is 0.',
    reply: payload(
      list(
        shape({
          tag: text(),
          up: bool().description(
            'false once it failed as often in a row as `outboundDownThreshold` says, until it works again',
          ),
          failures: int().min(0).description('in a row'),
          delay: int().min(0).description('ms; 0 when the last test failed'),
          error: text(),
          testedAt: int().description('Unix ms'),
        }),
      ),
    ),
    handle: () => [...watch.health],
  }),
];
