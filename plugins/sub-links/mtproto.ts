// A link that adds a proxy to Telegram. Source: core.telegram.org/api/links, MTProxy links. It has no place for a name.
import type { EntryTemplate, MtprotoAccount } from '../inbounds/contract.js';
import { escapeComponent, textFor, type WriteLink } from './share-link.js';

export function mtprotoLink({ account, port }: EntryTemplate<MtprotoAccount>): WriteLink {
  const secret = textFor(account.secret);
  return ({ client, server }) =>
    `tg://proxy?port=${port}&secret=${escapeComponent(secret(client))}&server=${escapeComponent(server)}`;
}
