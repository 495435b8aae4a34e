// From the button to the session, and from the account page to the link.
import {
  type LiveSettings,
  type Log,
  PanelError,
  type Principal,
  type RequestInfo,
  SESSION_COOKIE,
  type SessionsApi,
  sameSecret,
} from '../../kernel/index.js';
import type { AdminIdentity, OtherLoginsApi, OwnProof } from '../access/contract.js';
import { errors } from './errors.js';
import { mappedName, nameOf } from './claims.js';
import type { Links } from './links.js';
import type { PendingLogin, PendingLogins } from './pending.js';
import type { Account, Provider } from './provider.js';
import type { openidSettings } from './settings.js';

export const METHOD = 'openid';
/** From the callback, the pages of the web page. Relative: no caller can lead to another host, and each base path works. */
const PAGES = '../../../';

export class Flow {
  readonly #provider: Provider;
  readonly #pending: PendingLogins;
  readonly #links: Links;
  readonly #logins: OtherLoginsApi;
  readonly #sessions: SessionsApi;
  readonly #settings: LiveSettings<typeof openidSettings>;
  readonly #log: Log;

  constructor(needs: {
    provider: Provider;
    pending: PendingLogins;
    links: Links;
    logins: OtherLoginsApi;
    sessions: SessionsApi;
    settings: LiveSettings<typeof openidSettings>;
    log: Log;
  }) {
    this.#provider = needs.provider;
    this.#pending = needs.pending;
    this.#links = needs.links;
    this.#logins = needs.logins;
    this.#sessions = needs.sessions;
    this.#settings = needs.settings;
    this.#log = needs.log;
  }

  /** Begins a login in this browser; returns where it goes. */
  async beginLogin(returnTo: string, { reply }: RequestInfo): Promise<string> {
    const { url, pending } = await this.#provider.begin();
    await this.#pending.put({ ...pending, returnTo }, reply);
    return url.href;
  }

  /** Begins to link an account to the admin of this session, who proves himself again: a link outlasts the session. */
  async beginLink(proof: OwnProof, request: RequestInfo): Promise<string> {
    const admin = await this.#logins.confirm(proof, request);
    const { url, pending } = await this.#provider.begin();
    const link = { admin: admin.id, session: request.who.session ?? '' };
    await this.#pending.put({ ...pending, returnTo: '', link }, request.reply);
    return url.href;
  }

  /** Finishes both, and leads the browser to a page: a person is waiting, also for what went wrong. */
  async finish(request: RequestInfo): Promise<string> {
    let pending: PendingLogin | undefined;
    let place: string;
    try {
      pending = this.#pending.take(request);
      const query = new URL(request.url, 'http://panel').searchParams;
      // Asked before anything is counted: another page can lead the browser here.
      if (!sameSecret(query.get('state') ?? '', pending.state)) throw errors.STALE();
      // Nobody has proved anything, and nobody has tried to.
      if (query.has('error')) throw errors.CANCELLED();
      place = pending.link
        ? await this.#link(pending, pending.link, query, request)
        : await this.#logIn(pending, query, request);
    } catch (error) {
      place = this.#toTrouble(error, pending);
    }
    request.reply.status(303);
    request.reply.header('Location', `${PAGES}${place}`);
    request.reply.header('Cache-Control', 'no-store');
    // The address holds a code.
    request.reply.header('Referrer-Policy', 'no-referrer');
    return '';
  }

  async #logIn(pending: PendingLogin, query: URLSearchParams, request: RequestInfo): Promise<string> {
    this.#logins.refuseBlocked(METHOD, request);
    let account: Account | undefined;
    let admin = 0;
    await this.#logins.logIn(
      {
        method: METHOD,
        check: async (named) => {
          account = await this.#provider.finish(pending, query);
          named(account.subject);
          admin = await this.#adminOf(account, request.ip);
          return admin;
        },
        // Unlinking ends the sessions that are open by then.
        holds: async () =>
          account !== undefined &&
          this.#settings.read().openidEnable &&
          (await this.#links.adminOf(account)) === admin,
      },
      request,
    );
    return `login?${new URLSearchParams({ returnTo: pending.returnTo })}`;
  }

  async #adminOf(account: Account, ip: string): Promise<number> {
    const linked = await this.#links.adminOf(account);
    if (linked !== undefined) return linked;
    const { openidClaim } = this.#settings.read();
    if (openidClaim === '') throw errors.UNLINKED();
    const claims = await account.claims();
    const admin = this.#logins.adminNamed(mappedName(claims, openidClaim) ?? '');
    // One that has a link is known by it: a claim may name somebody else one day.
    if (!admin?.enabled || (await this.#links.hasOne(admin.id, account.issuer))) throw errors.UNLINKED();
    const who: Principal = { kind: 'session', name: admin.username, ip };
    await this.#links.add(admin, { ...account, name: nameOf(claims) }, who, () => undefined);
    return admin.id;
  }

  async #link(
    pending: PendingLogin,
    { admin: id, session }: { readonly admin: number; readonly session: string },
    query: URLSearchParams,
    request: RequestInfo,
  ): Promise<string> {
    // The session must still be open, of the same admin, and that of this browser.
    const owner = (): AdminIdentity => {
      const admin = this.#logins.adminWith(id);
      const open = this.#sessions.list().find(({ digest }) => digest === session);
      const csrf = this.#sessions.csrfOf(request.cookies[SESSION_COOKIE]);
      if (!admin?.enabled || open?.userName !== admin.username || csrf !== open.csrf)
        throw errors.NO_SESSION();
      return admin;
    };
    const admin = owner();
    const account = await this.#provider.finish(pending, query);
    const name = nameOf(await account.claims());
    const who: Principal = { kind: 'session', name: admin.username, session, ip: request.ip };
    await this.#links.add(admin, { ...account, name }, who, () => void owner());
    return 'system/access?openid=linked';
  }

  #toTrouble(error: unknown, pending: PendingLogin | undefined): string {
    if (!(error instanceof PanelError))
      this.#log.error('a login by OpenID Connect failed for a reason of its own', { error });
    const { code } = error instanceof PanelError ? error : errors.FAILED();
    if (pending?.link) return `system/access?${new URLSearchParams({ openid: code })}`;
    const returnTo = pending?.returnTo ?? '';
    return `login?${new URLSearchParams({ ...(returnTo !== '' && { returnTo }), trouble: code })}`;
  }
}
