// As NekoBox and v2rayN write it; no authority has written its grammar down.
import { authorityIn, credentialsIn, portIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { LinkError } from './link-error.js';
import { tlsIn } from './security.js';
import { unescaped } from './text.js';

const DEFAULT_PORT = 443;
const CONTROLS: readonly string[] = ['bbr', 'cubic', 'new_reno'];

export const tuic: SchemeReader = {
  schemes: ['tuic'],
  read({ body }): ReadEntry {
    const authority = authorityIn(body);
    const { credentials, server, portText, parameters } = authority;
    credentialsIn(authority, 'id and password');
    const [id = '', ...rest] = credentials.includes(':')
      ? credentials.split(':').map((part) => unescaped(part, 'credentials'))
      : unescaped(credentials, 'credentials').split(':');
    const password = rest.join(':');
    if (id === '' || password === '')
      throw new LinkError('credentials', 'it has no id and password before the server');
    const control = parameters.get('congestion_control', 'congestion') || 'bbr';
    if (!CONTROLS.includes(control))
      throw new LinkError('congestion_control', `its congestion_control may be ${CONTROLS.join(', ')}`);
    const relay = parameters.get('udp_relay_mode');
    if (!['', 'native', 'quic'].includes(relay))
      throw new LinkError('udp_relay_mode', 'its udp_relay_mode may be native or quic');
    return {
      server,
      port: portIn(portText, DEFAULT_PORT),
      account: {
        protocol: 'tuic',
        uuid: id,
        password,
        congestionControl: control,
        ...(relay && { udpRelayMode: relay }),
      },
      transport: { kind: 'own' },
      security: tlsIn(parameters),
    };
  },
};
