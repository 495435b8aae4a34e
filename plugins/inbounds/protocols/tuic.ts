// TUIC, which a program of its own runs. Settings: github.com/tuic-protocol/tuic, tuic-server.
import { bool, custom, int, oneOf, optional, shape, text } from '../../../kernel/index.js';
import type { Inbound, Protocol } from '../contract.js';
import type { Tls } from '../entry/security.js';
import { objectOf, oneWord, type Settings, textOf, textsOf, words } from '../stream/transport.js';
import { ownCredential, passwordOf } from './own-credential.js';

const LONGEST_PEM = 65_536;
const MOST_SECONDS = 86_400;
const seconds = () => optional(int().min(1).max(MOST_SECONDS));
const settings = shape({
  server: shape({
    /** the certificate itself (PEM), or the path of its file */
    certificate: optional(text().max(LONGEST_PEM)),
    private_key: optional(text().max(LONGEST_PEM)),
    congestion_control: optional(oneOf('bbr', 'cubic', 'new_reno')),
    alpn: optional(words().max(100)),
    udp_relay_mode: optional(oneOf('native', 'quic')),
    zero_rtt_handshake: optional(bool()),
    log_level: optional(oneOf('off', 'error', 'warn', 'info', 'debug', 'trace')),
    max_idle_time: seconds(),
    authentication_timeout: seconds(),
    max_udp_relay_packet_size: optional(int().min(1).max(65_535)),
    sni: optional(oneWord('sni').max(255)),
  }).unknown(true),
}).unknown(true);

const serverOf = ({ settings: own }: Pick<Inbound, 'settings'>): Settings => objectOf(own['server']);

function tlsOf(server: Settings): Tls {
  const sni = textOf(server['sni']);
  const alpn = textsOf(server['alpn']);
  return { kind: 'tls', ...(sni && { serverName: sni }), ...(alpn.length > 0 && { alpn }) };
}

export const tuic: Protocol = {
  name: 'tuic',
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
