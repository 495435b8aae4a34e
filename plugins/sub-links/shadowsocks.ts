// A link of Shadowsocks. Source: SIP002, and SIP022 for the methods of 2022.
import {
  type ClientIdentity,
  type EntryTemplate,
  type ShadowsocksAccount,
  valueFor,
} from '../inbounds/contract.js';
import { percentEncode } from '../subscription/contract.js';
import { compileQuery, type Param, textFor, type WriteLink } from './share-link.js';
import { streamParams } from './stream-params.js';

function userInfo({ account }: EntryTemplate<ShadowsocksAccount>): (client: ClientIdentity) => string {
  const password = textFor(account.password);
  const { method, serverKey } = account;
  // SIP022 forbids base64 where the password is base64 itself.
  if (serverKey === undefined && typeof method === 'string' && method.startsWith('2022-'))
    return (client) => `${percentEncode(method)}:${percentEncode(password(client))}`;
  if (serverKey === undefined)
    return (client) => Buffer.from(`${valueFor(method, client)}:${password(client)}`).toString('base64url');
  if (typeof method === 'function' || typeof serverKey === 'function')
    return (client) =>
      [valueFor(method, client), valueFor(serverKey, client) ?? '', password(client)]
        .map(percentEncode)
        .join(':');
  const head = `${percentEncode(method)}:${percentEncode(serverKey)}:`;
  return (client) => head + percentEncode(password(client));
}

/** Readers of SIP002 do not know `headerType`; they read the disguise as a plugin. */
function params(entry: EntryTemplate): Record<string, Param> {
  const { transport, security } = entry;
  if (transport.kind === 'tcp' && transport.http)
    return { plugin: `obfs-local;obfs=http;obfs-host=${transport.http.host}` };
  const { security: _named, ...others } = streamParams(entry);
  return security.kind === 'none' ? others : { ...others, security: security.kind };
}

export function shadowsocksLink(entry: EntryTemplate<ShadowsocksAccount>): WriteLink {
  const info = userInfo(entry);
  const query = compileQuery(params(entry));
  return ({ client, authority, fragment }) => `ss://${info(client)}@${authority}?${query(client)}${fragment}`;
}
