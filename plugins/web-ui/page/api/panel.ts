// The panel whose page this is: its address, and the client of its API.
import { Weir } from '../../../../sdk/index.js';
import { Session } from './session.js';

/** The address below which the page is, and that of the panel: `…/panel/` and the one above. */
export const pageUrl = new URL(document.baseURI);
export const panelUrl = new URL('..', pageUrl);

const DAY_MS = 24 * 3_600_000;

export const session = new Session({
  url: panelUrl.href,
  send: (input, init) => fetch(input, init),
});

/** All calls of the page. One that meets the end of the session waits for a login, so each attempt has its own time limit. */
export const weir = new Weir({
  url: panelUrl.href,
  fetch: session.fetch,
  timeoutMs: DAY_MS,
  retries: { most: 2 },
});
