// Whether a load balancer should send callers to this panel, beside whether its process lives (`healthz`).
import { type Database, message, type Route, route } from '../../kernel/index.js';
import { errors } from './errors.js';
import type { Member } from './member.js';

/** A panel alone asks the database itself, and not for each of many probes at once. */
const ANSWER_MS = 2_000;

export class Readiness {
  readonly #db: Pick<Database, 'query'>;
  readonly #problemOfMember: (() => string | undefined) | undefined;
  #isOpen = false;
  /** The process stops soon. */
  isLeaving = false;
  #asked: Promise<string | undefined> | undefined;

  constructor({
    db,
    member,
    config,
  }: {
    db: Pick<Database, 'query'>;
    member: Pick<Member, 'problem'>;
    config: { readonly name?: string | undefined };
  }) {
    this.#db = db;
    this.#problemOfMember = config.name === undefined ? undefined : () => member.problem();
  }

  /** All plugins have started. */
  open(): void {
    this.#isOpen = true;
  }
  leave(): void {
    this.isLeaving = true;
  }

  /** Why callers should go elsewhere; undefined when they may come. */
  async problem(): Promise<string | undefined> {
    if (this.isLeaving) return 'it stops soon';
    if (!this.#isOpen) return 'it is starting';
    if (this.#problemOfMember) return this.#problemOfMember();
    this.#asked ??= this.#ask().finally(() => (this.#asked = undefined));
    return this.#asked;
  }

  async #ask(): Promise<string | undefined> {
    const over = new AbortController();
    const late = new Promise<string>((resolve) => {
      const timer = setTimeout(() => resolve('the database does not answer'), ANSWER_MS);
      over.signal.addEventListener('abort', () => clearTimeout(timer));
    });
    const answered = this.#db.query('SELECT 1 AS one').then(
      () => undefined,
      () => 'the database fails',
    );
    return Promise.race([answered, late]).finally(() => over.abort());
  }
}

export const readyRoute = (readiness: Readiness): Route =>
  route({
    method: 'GET',
    path: '/readyz',
    name: 'cluster.ready',
    auth: 'anyone',
    anyHost: true,
    doc: 'For load balancers: answers 200 while callers may come, and 503 while the panel starts, stops, cannot reach its database, or is behind other panels on the same one. `GET /healthz` says whether the process works.',
    reply: message(),
    errors: [errors.NOT_READY],
    handle: async () => {
      const problem = await readiness.problem();
      if (problem !== undefined) throw errors.NOT_READY(`this panel takes no callers now: ${problem}`);
    },
  });
