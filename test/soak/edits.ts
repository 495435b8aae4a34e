// What an admin does all day, at a steady rate: adds, changes, disables, enables, deletes, pages. Every client that is
// disabled or added is enabled or deleted later, so the panel does not grow.
import { randomUUID } from 'node:crypto';
import type { PanelApi } from '../harness/api.js';
import { pace, type Seen, Tally } from './child.js';

/** How many edits lie between a step and the one that takes it back. */
const LATER = 600;

type Step = (n: number) => readonly [path: string, body?: unknown];

export interface EditsOptions {
  readonly panel: PanelApi;
  readonly inboundIds: readonly number[];
  /** emails of clients that exist and may be edited */
  readonly emails: readonly string[];
  readonly perSecond: number;
}

export class Edits {
  readonly #tally = new Tally();
  readonly #paced: { stop: () => Promise<void> };

  constructor({ panel, inboundIds, emails, perSecond }: EditsOptions) {
    const email = (n: number) => emails[n % emails.length] ?? '';
    const own = (n: number) => `soak${n}@bench`;
    const before = (n: number) => n - LATER;
    const steps: readonly Step[] = [
      (n) => ['clients/add', { client: { email: own(n) }, inboundIds }],
      (n) => [`clients/update/${email(n)}`, { comment: `edited ${n}` }],
      (n) => [`clients/update/${email(n)}`, { uuid: randomUUID() }],
      (n) => ['clients/bulkDisable', { emails: [email(n)] }],
      // The two that take back what was done at these places.
      (n) => [
        before(n - 1) < 0 ? `clients/get/${email(n)}` : 'clients/bulkEnable',
        { emails: [email(before(n - 1))] },
      ],
      (n) => [before(n - 5) < 0 ? `clients/get/${email(n)}` : `clients/del/${own(before(n - 5))}`, {}],
      (n) => [`clients/list/paged?sort=traffic&search=${n % 1000}`],
      (n) => [
        `clients/update/${email(n)}`,
        { totalGB: 2 ** 40, expiryTime: Date.now() + 864e5 * (1 + (n % 90)) },
      ],
    ];
    this.#paced = pace(perSecond, async (n) => {
      const [path, body] = steps[n % steps.length]?.(n) ?? [''];
      const isRead = path.startsWith('clients/get/') || body === undefined;
      const began = performance.now();
      try {
        await panel.get(`/panel/api/${path}`, isRead ? {} : { body });
        this.#tally.did(performance.now() - began);
      } catch (error) {
        this.#tally.failed(`edit: ${(error as Error).message}`);
      }
    });
  }

  tell(): Seen {
    return this.#tally.take();
  }
  /** Resolves when the last ones are answered. */
  async finish(): Promise<Seen> {
    await this.#paced.stop();
    return this.tell();
  }
}
