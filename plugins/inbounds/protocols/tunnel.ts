// A tunnel: what arrives goes on to one destination, or to where it was going. Settings: xtls.github.io, tunnel inbound;
// XTLS/Xray-core, infra/conf/dokodemo.go. The core calls it `tunnel`, and `dokodemo-door` as well.
import { annotate, bool, custom, int, mapOf, oneOf, optional, shape, text } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { L4, Protocol } from '../contract.js';
import { advanced, section } from '../form.js';
import { oneWord, textOf } from '../stream/transport.js';

const NETWORKS = ['tcp', 'udp', 'tcp,udp', 'udp,tcp'] as const;
/** Each key under its name here and under that of older panels, which the core of today reads. */
const port = () => optional(int().min(1).max(65_535));
const network = () => optional(oneOf(...NETWORKS));
// The core also takes a host without a port; then nobody could say where it leads.
const portMap = optional(
  mapOf(
    text()
      .max(300)
      .pattern(/^(?:\[[\da-fA-F:.]+\]|[^\s:[\]/@]*):\d{1,5}$/, 'host:port, or :port'),
  ),
).description('destinations by the port at which a connection arrives');
const followRedirect = optional(bool()).description('goes on to where a redirected connection was going');
const settings = shape({
  ...section('Destination', {
    rewriteAddress: optional(oneWord('rewriteAddress').max(255)).description(
      'host to which everything goes on; empty: where it was going',
    ),
    rewritePort: port().description('port to which everything goes on'),
    allowedNetwork: annotate(network(), { initial: 'tcp,udp' }),
    address: annotate(optional(oneWord('address').max(255)), { aliasOf: 'rewriteAddress' }),
    port: annotate(port(), { aliasOf: 'rewritePort' }),
    network: annotate(network(), { aliasOf: 'allowedNetwork' }),
  }),
  ...advanced('Destination', { portMap, followRedirect, userLevel: optional(int().min(0)) }),
}).unknown(true);

const networkOf = (own: Readonly<Record<string, unknown>>): string =>
  textOf(own['allowedNetwork']) || textOf(own['network']) || 'tcp,udp';

const NO_USERS = 'a tunnel has no users: it forwards whatever arrives';

export const tunnel: Protocol = {
  name: 'tunnel',
  title: 'Tunnel',
  settings: custom(settings),
  coreSettings(own) {
    const { clients: _clients, ...rest } = own;
    const address = textOf(own['rewriteAddress']) || textOf(own['address']);
    const to = own['rewritePort'] ?? own['port'];
    return {
      ...rest,
      ...(address && { address }),
      ...(to !== undefined && { port: to }),
      network: networkOf(own),
    } as JsonObject;
  },
  streamProblem: ({ network: kind, security }) =>
    kind === 'tcp' && security !== 'reality'
      ? undefined
      : 'a tunnel has no network of its own; leave it out, or write tcp',
  l4: ({ settings: own }) => networkOf(own).split(',') as L4[],
  clientless: () => NO_USERS,
  note: () => 'the core does not count what passes through a tunnel',
  account() {
    throw new Error(NO_USERS);
  },
  entry() {
    throw new Error(NO_USERS);
  },
};
