// A link of VLESS. Source: the Xray share-link proposal (XTLS/Xray-core discussion 716).
import { type EntryTemplate, type VlessAccount, withRoute } from '../inbounds/contract.js';
import { compileQuery, textFor, unlessEmpty, type WriteLink } from './share-link.js';
import { streamParams } from './stream-params.js';

export function vlessLink(entry: EntryTemplate<VlessAccount>): WriteLink {
  const { account, vlessRoute } = entry;
  const idOf = textFor(account.id);
  const id: typeof idOf = vlessRoute === undefined ? idOf : (client) => withRoute(idOf(client), vlessRoute);
  const query = compileQuery({
    encryption: account.encryption,
    ...streamParams(entry),
    flow: unlessEmpty(account.flow),
  });
  return ({ client, authority, fragment }) =>
    `vless://${id(client)}@${authority}?${query(client)}${fragment}`;
}
