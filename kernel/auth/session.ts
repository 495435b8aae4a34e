// Sessions of people: a random id in a cookie, its digest in the database, so that a leaked backup opens nothing
// and a log-out really ends it. All sessions are held in memory too: a request costs no query.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../jobs/clock.js';
import type { Database, Tx } from '../database/writer.js';
import { token } from '../container/token.js';
import type { Migration } from '../database/migrate.js';

export const SESSION_COOKIE = 'weir_session';
const SEEN_EVERY_MS = 60_000;

export const sessionMigrations: readonly Migration[] = [
  {
    name: '0001-sessions',
    up: ({ integer }) => [
      `CREATE TABLE kernel_sessions (digest VARCHAR(64) PRIMARY KEY, user_name VARCHAR(255) NOT NULL, csrf VARCHAR(64) NOT NULL, created_at ${integer} NOT NULL, seen_at ${integer} NOT NULL)`,
    ],
  },
];

export interface Session {
  readonly digest: string;
  readonly userName: string;
  readonly csrf: string;
  /** Unix ms */
  readonly createdAt: number;
  seenAt: number;
}

/** What plugins do with sessions; provided by the kernel. */
export interface SessionsApi {
  /** Opens a session after a successful login; returns the id for the cookie, which is stored nowhere. One that takes the place of another may keep its CSRF token. */
  open(userName: string, csrf?: string): Promise<{ id: string; session: Session }>;
  close(digest: string): Promise<void>;
  /** Ends every session, or all but one (its digest), e.g. after a change of credentials; within a write where there is one. */
  closeAll(options?: { readonly except?: string | undefined; readonly tx?: Tx }): Promise<void>;
  /** The CSRF token that belongs to a session cookie. */
  csrfOf(id: string | undefined): string | undefined;
  /** Sliding lifetime in ms; takes effect at once, for open sessions too. */
  setLifetime(ms: number): void;
  readonly lifetime: number;
}
export const Sessions = token<SessionsApi>('kernel', 'sessions');

const digestOf = (id: string): string => createHash('sha256').update(id).digest('hex');
const random = (): string => randomBytes(32).toString('base64url');

/** Compares two secrets in constant time. */
export function sameSecret(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

export class SessionStore implements SessionsApi {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Session>();
  #touched = new Set<Session>();
  #ended: () => void = () => undefined;
  lifetime = 360 * 60_000;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  async load(): Promise<void> {
    const rows = await this.#db.query<{
      digest: string;
      user_name: string;
      csrf: string;
      created_at: number;
      seen_at: number;
    }>('SELECT * FROM kernel_sessions');
    for (const row of rows)
      this.#sessions.set(row.digest, {
        digest: row.digest,
        userName: row.user_name,
        csrf: row.csrf,
        createdAt: row.created_at,
        seenAt: row.seen_at,
      });
  }

  setLifetime(ms: number): void {
    this.lifetime = ms;
  }

  async open(userName: string, csrf = random()): Promise<{ id: string; session: Session }> {
    const id = random();
    const now = this.#clock.now();
    const session: Session = { digest: digestOf(id), userName, csrf, createdAt: now, seenAt: now };
    // Known before it is written: a closeAll that comes meanwhile ends this session too, in memory as in the database.
    this.#sessions.set(session.digest, session);
    try {
      await this.#db.write((tx) =>
        tx.run(
          'INSERT INTO kernel_sessions (digest, user_name, csrf, created_at, seen_at) VALUES (:digest, :userName, :csrf, :createdAt, :seenAt)',
          {
            ...session,
          },
        ),
      );
    } catch (error) {
      this.#sessions.delete(session.digest);
      throw error;
    }
    return { id, session };
  }

  /** The live session of a cookie; being asked for keeps it alive. */
  find(id: string | undefined): Session | undefined {
    if (!id) return undefined;
    const session = this.#sessions.get(digestOf(id));
    const now = this.#clock.now();
    if (!session || session.seenAt + this.lifetime <= now) return undefined;
    if (now - session.seenAt > Math.min(SEEN_EVERY_MS, this.lifetime / 10)) {
      session.seenAt = now;
      this.#touched.add(session);
    }
    return session;
  }

  /** Whether the session still lasts; to be asked for does not keep it alive. */
  isLive(digest: string): boolean {
    const session = this.#sessions.get(digest);
    return session !== undefined && session.seenAt + this.lifetime > this.#clock.now();
  }

  /** Calls back whenever sessions have ended. */
  onEnd(ended: () => void): void {
    this.#ended = ended;
  }

  csrfOf(id: string | undefined): string | undefined {
    return this.find(id)?.csrf;
  }

  async close(digest: string): Promise<void> {
    this.#sessions.delete(digest);
    this.#ended();
    await this.#db.write((tx) => tx.run('DELETE FROM kernel_sessions WHERE digest = :digest', { digest }));
  }

  async closeAll({
    except = '',
    tx,
  }: {
    readonly except?: string | undefined;
    readonly tx?: Tx;
  } = {}): Promise<void> {
    for (const digest of this.#sessions.keys()) if (digest !== except) this.#sessions.delete(digest);
    this.#ended();
    const forget = (open: Tx) => open.run('DELETE FROM kernel_sessions WHERE digest <> :except', { except });
    await (tx ? forget(tx) : this.#db.write(forget));
  }

  /** Writes down who was seen and forgets who was not for too long. A job calls it; losing a minute of it costs a login at most. */
  async sweep(): Promise<void> {
    const oldest = this.#clock.now() - this.lifetime;
    const gone = [...this.#sessions.values()].filter((session) => session.seenAt <= oldest);
    const seen = [...this.#touched];
    if (gone.length === 0 && seen.length === 0) return;
    this.#touched = new Set();
    for (const { digest } of gone) this.#sessions.delete(digest);
    if (gone.length > 0) this.#ended();
    await this.#db.write(async (tx) => {
      for (const { digest, seenAt } of seen)
        await tx.run('UPDATE kernel_sessions SET seen_at = :seenAt WHERE digest = :digest', {
          seenAt,
          digest,
        });
      await tx.run('DELETE FROM kernel_sessions WHERE seen_at <= :oldest', { oldest });
    });
  }
}
