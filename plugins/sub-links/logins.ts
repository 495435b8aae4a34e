// Links of HTTP and SOCKS proxies. There is no standard: these forms are what most client programs read.
import type { EntryTemplate, LoginAccount } from '../inbounds/contract.js';
import { percentEncode } from '../subscription/contract.js';
import { textFor, type WriteLink } from './share-link.js';

/** `http://user:password@host:port#name` */
export function httpLink({ account }: EntryTemplate<LoginAccount>): WriteLink {
  const [user, password] = [textFor(account.user), textFor(account.password)];
  return ({ client, authority, fragment }) =>
    `http://${percentEncode(user(client))}:${percentEncode(password(client))}@${authority}${fragment}`;
}

/** `socks://base64(user:password)@host:port#name` */
export function socksLink({ account }: EntryTemplate<LoginAccount>): WriteLink {
  const [user, password] = [textFor(account.user), textFor(account.password)];
  return ({ client, authority, fragment }) =>
    `socks://${Buffer.from(`${user(client)}:${password(client)}`).toString('base64url')}@${authority}${fragment}`;
}
