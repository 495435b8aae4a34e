// Source: v2.hysteria.network, URI scheme; `mport`: 2dust/v2rayN.
import type { FinalMask, SalamanderMask } from '../inbounds/contract.js';
import { authorityIn, portIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { LinkError } from './link-error.js';
import type { Parameters } from './parameters.js';
import { tlsIn } from './security.js';
import { numberIn, unescaped } from './text.js';

const DEFAULT_PORT = 443;
const LARGEST_PACKET = 2048;
const PORTS = /^\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*$/;

/** Ports between which the client changes. */
function hopIn(text: string, part: string): string {
  const ports = text.replaceAll(' ', '');
  if (!PORTS.test(ports) || ports.split(/[,-]/).some((port) => Number(port) < 1 || Number(port) > 65_535))
    throw new LinkError(part, `its ${part} is not a list of ports such as 443,20000-50000`);
  return ports;
}

function obfuscationIn(parameters: Parameters): SalamanderMask | undefined {
  const kind = parameters.get('obfs');
  if (kind === '' || kind === 'none') return undefined;
  const password = parameters.get('obfs-password', 'obfs_password', 'obfsPassword');
  if (kind !== 'salamander' && kind !== 'gecko')
    throw new LinkError('obfs', 'its obfs is unknown; it may be salamander or gecko');
  if (password === '') throw new LinkError('obfs-password', 'it has no obfs-password');
  if (kind === 'salamander') return { kind: 'salamander', password };
  const bounds = [1, LARGEST_PACKET] as const;
  const least = numberIn(parameters.get('minPacketSize'), 'minPacketSize', bounds);
  const most = numberIn(parameters.get('maxPacketSize'), 'maxPacketSize', bounds);
  if (least === undefined || most === undefined || least > most)
    throw new LinkError('minPacketSize', 'its obfs gecko needs minPacketSize and maxPacketSize');
  return { kind: 'salamander', password, packetSize: `${least}-${most}` };
}

function masksOf(parameters: Parameters, portText: string): FinalMask | undefined {
  const mask = obfuscationIn(parameters);
  const hop = parameters.get('mport');
  const ports = hop ? hopIn(hop, 'mport') : /[,-]/.test(portText) ? hopIn(portText, 'port') : '';
  if (!mask && ports === '') return undefined;
  return { ...(mask && { udp: [mask] }), ...(ports !== '' && { udpHop: { ports } }) };
}

/** Version 2; version 1 has links of its own, and cores no longer speak it. */
export const hysteria: SchemeReader = {
  schemes: ['hysteria2', 'hy2'],
  read({ body }): ReadEntry {
    const { credentials, server, portText, parameters } = authorityIn(body);
    const auth = unescaped(credentials, 'credentials') || parameters.get('auth');
    if (auth === '') throw new LinkError('credentials', 'it has no password before the server');
    const finalMask = masksOf(parameters, portText);
    const [first = ''] = portText.split(/[,-]/, 1);
    return {
      server,
      port: portIn(first, DEFAULT_PORT),
      account: { protocol: 'hysteria', auth },
      transport: { kind: 'own' },
      security: tlsIn(parameters),
      ...(finalMask && { finalMask }),
    };
  },
};
