// Admins' programs that edit clients all the while: each call has an Idempotency-Key and is repeated until it is answered. What
// was acknowledged must be there in the end, once.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const ATTEMPT_LIMIT_MS = 12_000;
/** A call that was not answered for so long is given up; it may be done or not. */
const CALL_LIMIT_MS = 120_000;
const AGAIN_MS = 400;
const MIB = 1024 * 1024;
export const QUOTA = 1024 * MIB;
/** Clients of an editor that live at the same time. */
const MOST = 12;

/** What a client must be: where a call was given up, one of several. */
export interface Expected {
  readonly email: string;
  there: Set<boolean>;
  comments: Set<string>;
  /** bytes of its quota: each adjustment counts once */
  quotas: Set<number>;
}
interface Reply {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}
type Outcome = 'done' | 'unknown';
/** The balancer, or the panel: nobody answers, or not now. */
const PASSING = new Set([0, 502, 503, 504]);

export interface EditorOptions {
  /** of the balancer */
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly inboundId: number;
  readonly pauseMs: number;
}

export class Editor {
  readonly #options: EditorOptions;
  readonly #clients: Expected[] = [];
  #number = 0;
  #isOver = false;
  #running: Promise<void> = Promise.resolve();
  /** each call is sent twice at once, as by a balancer that repeats it */
  twice = false;
  acknowledged = 0;
  repeated = 0;
  givenUp = 0;
  /** ms of each acknowledged call */
  readonly latencies: number[] = [];
  /** replies by status and code, beside the good ones */
  readonly refusals = new Map<string, number>();
  /** replies that no fault explains */
  readonly wrong: string[] = [];

  constructor(options: EditorOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#running = this.#run();
  }
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }
  /** of the emails of its clients */
  get prefix(): string {
    return `${this.#options.name}-`;
  }
  get expected(): readonly Expected[] {
    return this.#clients;
  }

  async #run(): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      await this.#step(n);
      await sleep(this.#options.pauseMs * (0.5 + Math.random()));
    }
  }

  async #step(n: number): Promise<void> {
    const there = this.#clients.filter(({ there: is }) => is.size === 1 && is.has(true));
    const client = there[n % Math.max(1, there.length)];
    if (!client || (n % 5 === 0 && there.length < MOST)) return this.#add();
    if (n % 5 === 1 && there.length >= MOST) return this.#delete(client);
    return n % 2 === 0 ? this.#adjust(client) : this.#comment(client, `${this.#options.name} ${n}`);
  }

  async #add(): Promise<void> {
    const email = `${this.#options.name}-${this.#number++}`;
    const client: Expected = {
      email,
      there: new Set([true]),
      comments: new Set(['']),
      quotas: new Set([QUOTA]),
    };
    const outcome = await this.#call('clients/add', {
      client: { email, totalGB: QUOTA },
      inboundIds: [this.#options.inboundId],
    });
    if (outcome === 'unknown') client.there.add(false);
    this.#clients.push(client);
  }

  async #delete(client: Expected): Promise<void> {
    const outcome = await this.#call(`clients/del/${client.email}`, {});
    client.there = new Set(outcome === 'done' ? [false] : [true, false]);
  }

  async #comment(client: Expected, comment: string): Promise<void> {
    const outcome = await this.#call(`clients/update/${client.email}`, { comment });
    client.comments = new Set(outcome === 'done' ? [comment] : [...client.comments, comment]);
  }

  async #adjust(client: Expected): Promise<void> {
    const outcome = await this.#call('clients/bulkAdjust', { emails: [client.email], addBytes: MIB });
    const more = [...client.quotas].map((quota) => quota + MIB);
    client.quotas = new Set(outcome === 'done' ? more : [...client.quotas, ...more]);
  }

  /** Repeats a call with its key until it is acknowledged, or given up. */
  async #call(path: string, body: object): Promise<Outcome> {
    const key = randomUUID();
    const began = performance.now();
    for (let attempt = 0; performance.now() - began < CALL_LIMIT_MS; attempt++) {
      if (attempt > 0) this.repeated++;
      const copies = this.twice ? 2 : 1;
      const replies = await Promise.all(Array.from({ length: copies }, () => this.#send(path, body, key)));
      if (replies.some(({ status }) => status === 200)) {
        this.acknowledged++;
        this.latencies.push(performance.now() - began);
        return 'done';
      }
      for (const { status, code } of replies) this.#count(`${status} ${code}`.trim());
      if (replies.some(({ code }) => code === 'IDEMPOTENCY_UNKNOWN')) break;
      const other = replies.find(
        ({ status, code }) => !PASSING.has(status) && code !== 'IDEMPOTENCY_UNDER_WAY',
      );
      if (other) {
        this.wrong.push(`${path} ${JSON.stringify(body)}: ${other.status} ${other.text}`);
        break;
      }
      await sleep(AGAIN_MS * (0.5 + Math.random()));
    }
    this.givenUp++;
    return 'unknown';
  }

  #count(what: string): void {
    this.refusals.set(what, (this.refusals.get(what) ?? 0) + 1);
  }

  async #send(path: string, body: object, key: string): Promise<Reply> {
    const { url, token } = this.#options;
    try {
      const response = await fetch(`${url}/panel/api/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ATTEMPT_LIMIT_MS),
      });
      const text = await response.text();
      const { success, code = '' } = text.startsWith('{')
        ? (JSON.parse(text) as { success: boolean; code?: string })
        : { success: false };
      // A success that says no, which no program would take for one.
      const status = response.status === 200 && !success ? 400 : response.status;
      return { status, code, text: text.slice(0, 300) };
    } catch (error) {
      return { status: 0, code: '', text: String(error) };
    }
  }
}
