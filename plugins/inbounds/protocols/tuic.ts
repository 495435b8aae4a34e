// TUIC, which a program of its own runs. Settings: github.com/tuic-protocol/tuic, tuic-server.
import { annotate, bool, custom, int, oneOf, optional, shape, text } from '../../../kernel/index.js';
import type { Inbound, Protocol } from '../contract.js';
import type { Tls } from '../entry/security.js';
import { advanced, section } from '../form.js';
import { objectOf, oneWord, type Settings, textOf, textsOf, words } from '../stream/transport.js';
import { ownCredential, passwordOf } from './own-credential.js';

const LONGEST_PEM = 65_536;
const MOST_SECONDS = 86_400;
const seconds = () => annotate(optional(int().min(1).max(MOST_SECONDS)), { unit: 'seconds' });
const server = shape({
  ...section('TLS', {
    certificate: optional(text().max(LONGEST_PEM)).description(
      'the certificate itself (PEM), or the path of its file',
    ),
    private_key: annotate(optional(text().max(LONGEST_PEM)), { secret: true }).description(
      'its key itself (PEM), or the path of its file',
    ),
    sni: optional(oneWord('sni').max(255)).description('name of the server in the certificate'),
  }),
  ...advanced('TLS', {
    alpn: optional(words().max(100)).description('protocols that are offered, such as h3'),
    zero_rtt_handshake: optional(bool()).description('clients may send with the first packet'),
  }),
  ...advanced('Transport', {
    congestion_control: annotate(optional(oneOf('bbr', 'cubic', 'new_reno')), { initial: 'bbr' }),
    udp_relay_mode: annotate(optional(oneOf('native', 'quic')), { initial: 'native' }).description(
      'how clients send UDP: as datagrams, or in streams',
    ),
    max_idle_time: seconds().description('until an idle connection is closed'),
    authentication_timeout: seconds().description('until a connection without a login is closed'),
    max_udp_relay_packet_size: annotate(optional(int().min(1).max(65_535)), { unit: 'bytes' }),
  }),
  ...advanced('Program', {
    log_level: optional(oneOf('off', 'error', 'warn', 'info', 'debug', 'trace')),
  }),
}).unknown(true);
const settings = shape(section('Server', { server })).unknown(true);

const serverOf = ({ settings: own }: Pick<Inbound, 'settings'>): Settings => objectOf(own['server']);

function tlsOf(server: Settings): Tls {
  const sni = textOf(server['sni']);
  const alpn = textsOf(server['alpn']);
  return { kind: 'tls', ...(sni && { serverName: sni }), ...(alpn.length > 0 && { alpn }) };
}

export const tuic: Protocol = {
  name: 'tuic',
  title: 'TUIC',
  settings: custom(settings),
  runBy: 'program',
  stream: false,
  l4: () => ['udp'],
  coreSettings: () => ({}),
  credential: ownCredential('password'),
  account: (client, inbound) => ({
    protocol: 'tuic',
    uuid: client.uuid,
    password: passwordOf(client, inbound),
  }),
  entry(inbound, base) {
    const server = serverOf(inbound);
    const relay = textOf(server['udp_relay_mode']);
    return {
      ...base,
      transport: { kind: 'own' },
      security: tlsOf(server),
      account: {
        protocol: 'tuic',
        uuid: ({ uuid }) => uuid,
        password: (client) => passwordOf(client, inbound),
        congestionControl: textOf(server['congestion_control']) || 'bbr',
        ...(relay && { udpRelayMode: relay }),
      },
    };
  },
  option(inbound) {
    const { private_key: _secret, ...shown } = serverOf(inbound);
    return { tuicServer: shown };
  },
};
