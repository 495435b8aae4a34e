// Links, QR codes and the subscription of a client: for admins, and for the user whose client it is.
import type { ClientRow } from '../../clients/contract.js';
import type { SubscriptionApi } from '../../subscription/contract.js';
import { Declined, type Screen } from '../chat/screen.js';
import type { Turn } from '../chat/turn.js';
import { qrPng } from '../send/png.js';
import { escapeAll } from '../texts/html.js';
import { clientOf, type Parts, running } from './parts.js';

/** A link that is longer is sent as a file. */
const MOST_IN_MESSAGE = 3_000;
const MOST_LINKS = 50;
/** A picture is a call, and calls of a plugin are limited to 300 a minute for all its users. */
const MOST_PICTURES = 5;
const FORMAT = 'links';

/** The name of a link, if it has one that can be read. */
function nameOf(link: string): string {
  const at = link.indexOf('#');
  try {
    return at < 0 ? '' : decodeURIComponent(link.slice(at + 1)).slice(0, 100);
  } catch {
    return '';
  }
}

export const linkScreen = (parts: Parts): Screen => {
  // No request says which host the panel has: WEIR_PUBLIC_HOST or subDomain does.
  const linksOf = (subscription: SubscriptionApi, row: ClientRow) => subscription.entries(FORMAT, row, '');
  const found = (turn: Turn, id: string | undefined) => {
    const subscription = running(parts.subscription, 'subscription');
    const row = clientOf(parts, turn, id);
    return { row, subscription, links: linksOf(subscription, row) };
  };
  return {
    for: 'client',
    actions: {
      links: async (turn, id) => {
        const { row, links } = found(turn, id);
        await turn.notice('');
        const title = turn.texts.html('linksOf', { count: links.length, email: row.email });
        const long =
          links.some((link) => escapeAll(link).length > MOST_IN_MESSAGE) || links.length > MOST_LINKS;
        if (!long) return turn.say([title, ...links.map((link) => `\n<code>${escapeAll(link)}</code>`)]);
        const bytes = Buffer.from(`${links.join('\n')}\n`);
        await turn.document({ name: 'links.txt', bytes }, title);
      },
      qr: async (turn, id) => {
        const { row, links, subscription } = found(turn, id);
        await turn.notice('');
        const url = subscription.url(FORMAT, row, '');
        const scanned = [
          ...(url === undefined ? [] : [{ text: url, name: turn.texts.plain('subscription') }]),
          ...links.map((link) => ({ text: link, name: nameOf(link) })),
        ];
        let sent = 0;
        for (const { text, name } of scanned.slice(0, MOST_PICTURES)) {
          const bytes = qrPng(text);
          if (!bytes) continue;
          sent++;
          await turn.photo({ name: 'qr.png', bytes }, escapeAll(name || row.email));
        }
        if (sent === 0) throw new Declined('nothingToScan');
      },
      sub: async (turn, id) => {
        const { row, subscription } = found(turn, id);
        const url = subscription.url(FORMAT, row, '');
        if (url === undefined) throw new Declined('noSubscription');
        const title = turn.texts.html('subscriptionOf', { email: row.email });
        await turn.say([title, `<code>${escapeAll(url)}</code>`]);
      },
    },
  };
};
