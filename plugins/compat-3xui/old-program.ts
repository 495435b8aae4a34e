// Tells older programs from browsers and from programs of our own API.
import { type RequestInfo, SESSION_COOKIE, type SessionsApi } from '../../kernel/index.js';
import { mayBeCentral } from './centrals.js';

/** The name of the session cookie that older programs look for. */
export const OLD_COOKIE = '3x-ui';

/** Of tokens from before a login; all others are shorter. */
export const LOGIN_TOKEN_LENGTH = 56;

type Headers = RequestInfo['headers'];
type Caller = Pick<RequestInfo, 'headers' | 'cookies' | 'who'>;

/** A browser sends its origin with every POST and, under TLS, `Sec-Fetch-Site` with every request; no page can prevent it. `fetch` of Node sends only `Sec-Fetch-Mode`. */
export const isBrowser = (headers: Headers): boolean =>
  ['origin', 'sec-fetch-site', 'sec-fetch-dest'].some((name) => headers[name] !== undefined);

/** Recognises callers that were written for another panel. */
export class OldPrograms {
  readonly #sessions: SessionsApi;

  constructor({ sessions }: { sessions: SessionsApi }) {
    this.#sessions = sessions;
  }

  /** It says the name of the library, carries only the old cookie, or carries both and went on with the token from before its login. Browsers carry both as well. */
  isOne({ headers, cookies }: Caller): boolean {
    const { cookie, 'user-agent': agent } = headers;
    // Another panel on this host, or a page of a subdomain, can give a browser the old cookie.
    if (isBrowser(headers)) return false;
    if (agent?.startsWith('3xui-api-client/')) return true;
    if (cookie === undefined || !/(?:^|; *)3x-ui=/.test(cookie)) return false;
    return (
      !/(?:^|; *)weir_session=/.test(cookie) ||
      this.#sessions.csrfOf(cookies[SESSION_COOKIE])?.length === LOGIN_TOKEN_LENGTH
    );
  }

  /** An older program or a central, or what may be one with an API token: py3xui sends no name of its own. */
  mayBeOne(caller: Caller): boolean {
    const { accept, 'user-agent': agent = '' } = caller.headers;
    return (
      (accept === 'application/json' && /^python-(?:requests|httpx)\//.test(agent)) ||
      this.isOne(caller) ||
      mayBeCentral(caller)
    );
  }
}
