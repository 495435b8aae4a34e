// Which links a caller sees, and the end of a link.
import type { Database, Principal, SessionsApi } from '../../kernel/index.js';
import type { CallerRightsApi, OtherLoginsApi } from '../access/contract.js';
import { errors } from './errors.js';
import type { Links } from './links.js';
import type { LinkRow } from './tables.js';

/** A link with the name of its admin. */
export interface NamedLink extends LinkRow {
  readonly username: string;
}

export class Unlinking {
  readonly #db: Database;
  readonly #links: Links;
  readonly #logins: OtherLoginsApi;
  readonly #rights: CallerRightsApi;
  readonly #sessions: SessionsApi;

  constructor(needs: {
    db: Database;
    links: Links;
    logins: OtherLoginsApi;
    rights: CallerRightsApi;
    sessions: SessionsApi;
  }) {
    this.#db = needs.db;
    this.#links = needs.links;
    this.#logins = needs.logins;
    this.#rights = needs.rights;
    this.#sessions = needs.sessions;
  }

  /** All links, for a caller with a role those of the own session's admin. */
  shownTo(who: Principal): NamedLink[] {
    const own = this.#logins.adminOf(who)?.id;
    const isLimited = this.#rights.isLimited(who);
    return this.#links
      .list()
      .filter(({ adminId }) => !isLimited || adminId === own)
      .map((link) => ({ ...link, username: this.#logins.adminWith(link.adminId)?.username ?? '' }));
  }

  /** Ends a link, and the sessions of its admin but that of the caller: they may come from the account. Rejects with LINK_NOT_FOUND. */
  async unlink(id: string, who: Principal): Promise<void> {
    const link = this.shownTo(who).find((one) => one.id === id);
    if (!link) throw errors.LINK_NOT_FOUND(undefined, { path: 'id' });
    await this.#db.write(async (tx) => {
      await this.#links.remove(tx, id, link.username, who);
      await this.#sessions.closeAll({ of: link.username, except: who.session, tx });
    });
  }
}
