// A link of Trojan. Source: trojan-gfw's URL, with the parameters of the Xray share-link proposal (XTLS/Xray-core discussion 716).
import type { EntryTemplate, TrojanAccount } from '../inbounds/contract.js';
import { percentEncode } from '../subscription/contract.js';
import { compileQuery, textFor, type WriteLink } from './share-link.js';
import { streamParams } from './stream-params.js';

export function trojanLink(entry: EntryTemplate<TrojanAccount>): WriteLink {
  const password = textFor(entry.account.password);
  const query = compileQuery(streamParams(entry));
  return ({ client, authority, fragment }) =>
    `trojan://${percentEncode(password(client))}@${authority}?${query(client)}${fragment}`;
}
