// Source: 2dust/v2rayN, "Description of VMess share link" (base64 of JSON, version 2); the URL form: XTLS/Xray-core discussion 716.
import { authorityIn, credentialsIn, portIn, serverIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { LinkError } from './link-error.js';
import { masksIn } from './masks.js';
import { Parameters } from './parameters.js';
import { securityIn } from './security.js';
import { streamIn } from './stream.js';
import { hasControl, inBase64, type Json, jsonIn } from './text.js';
import { transportIn } from './transport.js';

const DEFAULT_PORT = 443;
const CIPHERS: readonly string[] = ['auto', 'aes-128-gcm', 'chacha20-poly1305', 'none', 'zero'];

const cipherIn = (text: string): string => {
  const cipher = text || 'auto';
  if (!CIPHERS.includes(cipher))
    throw new LinkError('scy', `its cipher (scy) is unknown; it may be ${CIPHERS.join(', ')}`);
  return cipher;
};

/** Numbers and texts are the same to programs that write these links. */
function textIn(config: Json, key: string): string {
  const value = config[key] ?? '';
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw new LinkError(key, `its ${key} is not a text`);
  const text = String(value).trim();
  if (hasControl(text)) throw new LinkError(key, `its ${key} contains control characters`);
  return text;
}

/** The same facts under the names of the URL form. */
function parametersOf(config: Json): Parameters {
  const text = (key: string): string => textIn(config, key);
  const [net, type, path, host] = [text('net'), text('type'), text('path'), text('host')];
  const values: [string, string][] = [
    ['type', net],
    ['headerType', type],
    ['path', path],
    ['host', host],
    ['seed', path],
    ['serviceName', path],
    ['authority', text('authority') || host],
    ['security', text('tls')],
    ...[
      'sni',
      'fp',
      'alpn',
      'ech',
      'vcn',
      'pcs',
      'fm',
      'mtu',
      'tti',
      'allowInsecure',
      'insecure',
      'x_padding_bytes',
      'mode',
    ]
      .filter((key) => config[key] !== undefined)
      .map((key): [string, string] => [key, text(key)]),
    // In gRPC the mode stands in `type`.
    ...(net === 'grpc' || net === 'gun' ? [['mode', type] as [string, string]] : []),
  ];
  return new Parameters(new Map(values));
}

function fromJson(text: string): ReadEntry {
  const config = jsonIn(text, 'link');
  const parameters = parametersOf(config);
  const id = textIn(config, 'id');
  if (id === '') throw new LinkError('id', 'its JSON has no id');
  if (parameters.get('security') === 'reality')
    throw new LinkError('tls', 'its JSON names REALITY and has no fields for its key');
  const name = config['ps'];
  return {
    ...(typeof name === 'string' && { name }),
    server: serverIn(textIn(config, 'add')),
    port: portIn(textIn(config, 'port'), DEFAULT_PORT),
    account: {
      protocol: 'vmess',
      id,
      security: cipherIn(textIn(config, 'scy') || textIn(config, 'security')),
    },
    transport: transportIn(parameters, config),
    security: securityIn(parameters, 'none'),
    ...masksIn(parameters),
  };
}

function fromUrl(body: string): ReadEntry {
  const authority = authorityIn(body);
  const { server, portText, parameters } = authority;
  return {
    server,
    port: portIn(portText, DEFAULT_PORT),
    account: {
      protocol: 'vmess',
      id: credentialsIn(authority, 'id'),
      security: cipherIn(parameters.get('encryption')),
    },
    ...streamIn(parameters, 'none'),
  };
}

export const vmess: SchemeReader = {
  schemes: ['vmess'],
  read({ body }): ReadEntry {
    if (body.includes('@')) return fromUrl(body);
    const text = inBase64(body.trim());
    if (text === undefined) throw new LinkError('link', 'what follows vmess:// is not base64');
    return fromJson(text);
  },
};
