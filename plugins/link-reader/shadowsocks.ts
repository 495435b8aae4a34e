// Source: SIP002, and SIP022 for the methods of 2022; the older form is base64 of all before the name.
import type { ShadowsocksAccount, Transport } from '../inbounds/contract.js';
import { authorityIn, portIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { LinkError } from './link-error.js';
import { masksIn } from './masks.js';
import type { Parameters } from './parameters.js';
import { securityIn } from './security.js';
import { hasControl, inBase64, unescaped } from './text.js';
import { transportIn } from './transport.js';

/** In the link itself, method and password are escaped, or base64 as a whole. */
function loginIn(credentials: string): string {
  if (credentials.includes(':'))
    return credentials
      .split(':')
      .map((part) => unescaped(part, 'credentials'))
      .join(':');
  const whole = unescaped(credentials, 'credentials');
  return whole.includes(':') ? whole : (inBase64(whole) ?? '');
}

/** With a method of 2022, the keys of the servers on the way stand before that of the client. */
function accountIn(login: string): ShadowsocksAccount {
  const colon = login.indexOf(':');
  const method = login.slice(0, Math.max(colon, 0)).toLowerCase();
  const password = login.slice(colon + 1);
  if (password === '' || !/^[\w-]{1,64}$/.test(method) || hasControl(password))
    throw new LinkError('credentials', 'it has no method and password before the server');
  const last = password.lastIndexOf(':');
  return method.startsWith('2022-') && last > 0
    ? {
        protocol: 'shadowsocks',
        method,
        serverKey: password.slice(0, last),
        password: password.slice(last + 1),
      }
    : { protocol: 'shadowsocks', method, password };
}

/** Programs that read SIP002 say the HTTP disguise as a plugin. */
function pluginIn(text: string): Transport {
  const [name = '', ...options] = text.split(';');
  const values = new Map(
    options.map((option) => [option.split('=', 1)[0] ?? '', option.slice(option.indexOf('=') + 1)]),
  );
  if (!['obfs-local', 'simple-obfs'].includes(name) || values.get('obfs') !== 'http')
    throw new LinkError('plugin', 'its plugin is unknown; only obfs-local with obfs=http is read');
  const path = values.get('obfs-uri');
  return { kind: 'tcp', http: { host: values.get('obfs-host') ?? '', paths: path ? [path] : [] } };
}

const transportOf = (parameters: Parameters): Transport => {
  const plugin = parameters.get('plugin');
  return plugin === '' ? transportIn(parameters) : pluginIn(plugin);
};

/** The older form: base64 of login, server and port; undefined for the other one. */
function olderForm(body: string): { readonly login: string; readonly rest: string } | undefined {
  const [front = '', query] = body.split('?', 2);
  if (front.includes('@')) return undefined;
  const plain = inBase64(front.replace(/\/$/, ''));
  const at = plain?.lastIndexOf('@') ?? -1;
  if (plain === undefined || at < 0)
    throw new LinkError('link', 'what follows ss:// neither names a server nor is base64 that does');
  return { login: plain.slice(0, at), rest: plain.slice(at) + (query === undefined ? '' : `?${query}`) };
}

export const shadowsocks: SchemeReader = {
  schemes: ['ss'],
  read({ body }): ReadEntry {
    const older = olderForm(body);
    const { credentials, server, portText, parameters } = authorityIn(older?.rest ?? body);
    return {
      server,
      port: portIn(portText),
      account: accountIn(older?.login ?? loginIn(credentials)),
      transport: transportOf(parameters),
      security: securityIn(parameters, 'none'),
      ...masksIn(parameters),
    };
  },
};
