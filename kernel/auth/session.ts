// Login sessions: a random id in a cookie, its digest in the database. A leaked backup opens no session, and a logout
// takes effect at once. All sessions are also in memory, so a request needs no query.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../timing/clock.js';
import type { Database } from '../database/database.js';
import type { Tx } from '../database/tx.js';
import type { Projection } from '../../tables/projection.js';
import { token } from '../container/token.js';
import type { Migration } from '../database/migrate.js';

const SEEN_EVERY_MS = 60_000;
const DAY_MS = 86_400_000;
/** A program that logs in for every call must not fill the memory. */
const MOST_SESSIONS = 10_000;
const LONGEST_AGENT = 255;
const COLUMNS = 'digest, user_name, csrf, created_at, seen_at, ip, user_agent';

export const sessionMigrations: readonly Migration[] = [
  {
    name: '0001-sessions',
    up: ({ integer }) => [
      `CREATE TABLE kernel_sessions (digest VARCHAR(64) PRIMARY KEY, user_name VARCHAR(255) NOT NULL, csrf VARCHAR(64) NOT NULL, created_at ${integer} NOT NULL, seen_at ${integer} NOT NULL)`,
    ],
  },
  {
    name: '0002-session-origin',
    up: () => [
      "ALTER TABLE kernel_sessions ADD COLUMN ip VARCHAR(64) NOT NULL DEFAULT ''",
      "ALTER TABLE kernel_sessions ADD COLUMN user_agent VARCHAR(255) NOT NULL DEFAULT ''",
    ],
  },
];

/** The origin of a login. */
export interface SessionOrigin {
  readonly ip: string;
  /** header `User-Agent` of the login; stored up to 255 characters */
  readonly userAgent?: string | undefined;
}

export interface Session {
  readonly digest: string;
  readonly userName: string;
  readonly csrf: string;
  /** Unix ms */
  readonly createdAt: number;
  /** Unix ms; at most a minute behind the last request */
  seenAt: number;
  /** address of the request at `seenAt`; empty where it is unknown */
  ip: string;
  readonly userAgent: string;
}

/** The sessions, for plugins; provided by the kernel. */
export interface SessionsApi {
  /** Opens a session after a successful login; returns the id for the cookie, which is stored nowhere. A session that replaces another one may keep its CSRF token. */
  open(userName: string, csrf?: string, origin?: SessionOrigin): Promise<{ id: string; session: Session }>;
  /** All live sessions, the most recently used first. */
  list(): Readonly<Session>[];
  close(digest: string): Promise<void>;
  /** Ends all sessions, or those of one user name, or all but one (its digest), e.g. after a change of credentials; within a write if one is given. */
  closeAll(options?: {
    readonly of?: string | undefined;
    readonly except?: string | undefined;
    readonly tx?: Tx;
  }): Promise<void>;
  /** The CSRF token of a session cookie. */
  csrfOf(id: string | undefined): string | undefined;
  /** Sliding and absolute lifetime in ms; both take effect at once, for open sessions too. */
  setLifetime(ms: number, longest?: number): void;
  /** A session ends this long after its last request. */
  readonly lifetime: number;
  /** A session ends this long after its login, however much it is used; also the lifetime of its cookie. */
  readonly longest: number;
}
export const Sessions = token<SessionsApi>('kernel', 'Sessions');

const digestOf = (id: string): string => createHash('sha256').update(id).digest('hex');
const random = (): string => randomBytes(32).toString('base64url');

/** Compares two secrets in constant time. */
export function sameSecret(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** What a write has changed: sessions that were opened or used, digests of those that ended, or all of a user's that ended. */
type SessionChange = Readonly<{ opened?: Session; used?: Session[]; closed?: string[]; ended?: Ended }>;
type Ended = { readonly of: string | undefined; readonly except: string };

export class SessionStore implements SessionsApi {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #memory: Projection<Map<string, Session>, SessionChange>;
  readonly #sessions = new Map<string, Session>();
  #touched = new Set<Session>();
  #ended: () => void = () => undefined;
  lifetime = 360 * 60_000;
  longest = 30 * DAY_MS;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
    this.#memory = db.projection({ load: () => this.#load(), apply: (_, change) => this.#follow(change) });
  }

  async #load(): Promise<Map<string, Session>> {
    const kept = await this.#db.query<Session>(
      'SELECT digest, user_name AS userName, csrf, created_at AS createdAt, seen_at AS seenAt, ip, user_agent AS userAgent FROM kernel_sessions',
    );
    this.#sessions.clear();
    for (const session of kept) this.#sessions.set(session.digest, session);
    return this.#sessions;
  }

  /** What this process closes has ended before the write; what another one closes ends here. */
  #follow({ opened, used = [], closed = [], ended }: SessionChange): void {
    if (opened) this.#sessions.set(opened.digest, opened);
    const open = this.#sessions.size;
    for (const { digest, seenAt, ip } of used) {
      const session = this.#sessions.get(digest);
      if (session && session.seenAt < seenAt) Object.assign(session, { seenAt, ip });
    }
    for (const digest of closed) this.#sessions.delete(digest);
    if (ended) this.#drop(ended);
    if (this.#sessions.size < open) this.#ended();
  }

  setLifetime(ms: number, longest = this.longest): void {
    this.lifetime = ms;
    this.longest = longest;
  }

  async open(
    userName: string,
    csrf = random(),
    { ip, userAgent = '' }: SessionOrigin = { ip: '' },
  ): Promise<{ id: string; session: Session }> {
    const id = random();
    const now = this.#clock.now();
    const session: Session = {
      digest: digestOf(id),
      userName,
      csrf,
      createdAt: now,
      seenAt: now,
      ip,
      userAgent: userAgent.slice(0, LONGEST_AGENT),
    };
    const surplus = this.#sessions.size < MOST_SESSIONS ? [] : this.list().slice(MOST_SESSIONS - 1);
    const insert = `INSERT INTO kernel_sessions (${COLUMNS}) VALUES (:digest, :userName, :csrf, :createdAt, :seenAt, :ip, :userAgent)`;
    await this.#db.write(async (tx) => {
      await tx.run(insert, { ...session });
      tx.apply(this.#memory, { opened: session });
    });
    for (const { digest } of surplus) await this.close(digest);
    return { id, session };
  }

  /** The live session of a cookie; the call extends it. `ip` is the caller's address. */
  find(id: string | undefined, ip?: string): Session | undefined {
    if (!id) return undefined;
    const session = this.#sessions.get(digestOf(id));
    if (!session || this.#isOver(session)) return undefined;
    const now = this.#clock.now();
    if (now - session.seenAt > Math.min(SEEN_EVERY_MS, this.lifetime / 10)) {
      session.seenAt = now;
      session.ip = ip ?? session.ip;
      this.#touched.add(session);
    }
    return session;
  }

  /** Whether the session is still live; the call does not extend it. */
  isLive(digest: string): boolean {
    const session = this.#sessions.get(digest);
    return session !== undefined && !this.#isOver(session);
  }

  list(): Readonly<Session>[] {
    return [...this.#sessions.values()]
      .filter((session) => !this.#isOver(session))
      .sort((a, b) => b.seenAt - a.seenAt || b.createdAt - a.createdAt);
  }

  #isOver({ seenAt, createdAt }: Session): boolean {
    const now = this.#clock.now();
    return seenAt + this.lifetime <= now || createdAt + this.longest <= now;
  }

  /** Calls the listener whenever sessions have ended. */
  onEnd(ended: () => void): void {
    this.#ended = ended;
  }

  csrfOf(id: string | undefined): string | undefined {
    return this.find(id)?.csrf;
  }

  async close(digest: string): Promise<void> {
    this.#sessions.delete(digest);
    this.#ended();
    await this.#db.write(async (tx) => {
      await tx.run('DELETE FROM kernel_sessions WHERE digest = :digest', { digest });
      tx.apply(this.#memory, { closed: [digest] });
    });
  }

  #drop({ of, except }: Ended): void {
    for (const { digest, userName } of this.#sessions.values())
      if (digest !== except && userName === (of ?? userName)) this.#sessions.delete(digest);
  }

  async closeAll({ of, except = '', tx }: Parameters<SessionsApi['closeAll']>[0] = {}): Promise<void> {
    this.#drop({ of, except });
    this.#ended();
    const sql = `DELETE FROM kernel_sessions WHERE digest <> :except${of === undefined ? '' : ' AND user_name = :of'}`;
    const forget = async (open: Tx) => {
      await open.run(sql, { except, of });
      open.apply(this.#memory, { ended: { except, of } });
    };
    await (tx ? forget(tx) : this.#db.write(forget));
  }

  /** Stores when each session was last used, and deletes expired ones. A job calls it; losing a minute of it costs at most a login. */
  async sweep(): Promise<void> {
    // One moment for memory and database.
    const now = this.#clock.now();
    const over = { unused: now - this.lifetime, old: now - this.longest };
    const gone = [...this.#sessions.values()].filter((session) => this.#isOver(session));
    const seen = [...this.#touched];
    if (gone.length === 0 && seen.length === 0) return;
    this.#touched = new Set();
    for (const { digest } of gone) this.#sessions.delete(digest);
    if (gone.length > 0) this.#ended();
    await this.#db.write(async (tx) => {
      await tx.run(
        `INSERT INTO kernel_sessions (${COLUMNS}) SELECT s.digest, s.user_name, s.csrf, s.created_at, j.seen, j.address, s.user_agent
         FROM ${tx.sql.rows({ digest: 'text', seen: 'integer', address: 'text' })} AS j JOIN kernel_sessions AS s ON s.digest = j.digest WHERE 1 = 1
         ${tx.sql.onConflict('digest', `seen_at = ${tx.sql.incoming('seen_at')}, ip = ${tx.sql.incoming('ip')}`)}`,
        { rows: JSON.stringify(seen.map(({ digest, seenAt, ip }) => [digest, seenAt, ip])) },
      );
      await tx.run('DELETE FROM kernel_sessions WHERE seen_at <= :unused OR created_at <= :old', over);
      tx.apply(this.#memory, { used: seen, closed: gone.map(({ digest }) => digest) });
    });
  }
}
