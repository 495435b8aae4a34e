// A link that adds a proxy to Telegram. Source: core.telegram.org/api/links, MTProxy links. It has no place for a name.
import type { EntryTemplate, MtprotoAccount } from '../inbounds/contract.js';
import { percentEncode } from '../subscription/contract.js';
import { textFor, type WriteLink } from './share-link.js';

export function mtprotoLink({ account, port }: EntryTemplate<MtprotoAccount>): WriteLink {
  const secret = textFor(account.secret);
  return ({ client, server }) =>
    `tg://proxy?port=${port}&secret=${percentEncode(secret(client))}&server=${percentEncode(server)}`;
}
