// A panel with many clients, and the jobs on them.
import type { ExecutionContext } from 'ava';
import { definePlugin, type Plugin, tap } from '../../../kernel/index.js';
import type { PanelApi } from '../../../test/harness/api.js';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { beforeClientSave } from '../../clients/contract.js';

export const JOBS = '/panel/api/x/jobs';
export const DAY_MS = 86_400_000;
/** of each client in the beginning */
export const EXPIRY = Date.UTC(2031, 0, 1);

export interface Job {
  readonly id: number;
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly failed: number;
  readonly listed: number;
  readonly reasons: readonly { outcome: string; code: string; reason: string; count: number }[];
  readonly problem: string;
  readonly retryOf: number | null;
  readonly by: { readonly name: string; readonly kind: string };
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly filter?: object | null;
}
export interface Skipped {
  readonly total: number;
  readonly items: readonly { id: number; email: string; outcome: string; code: string; reason: string }[];
}
export interface Started {
  readonly id: number;
  readonly total: number;
  readonly unknown: number;
  readonly sample: readonly string[];
}
export interface Client {
  readonly id: number;
  readonly email: string;
  readonly enable: boolean;
  readonly expiryTime: number;
  readonly totalGB: number;
  readonly group: string;
  readonly inboundIds: readonly number[];
}

/** Holds the portions of jobs in the guard of clients, from a certain one on, until it is opened. */
export class Gate {
  /** portions that may pass */
  passes = Infinity;
  /** portions that have come */
  arrived = 0;
  /** may refuse what is written */
  check: (emails: readonly string[]) => void = () => undefined;
  readonly plugin: Plugin = definePlugin({
    name: 'gate',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    taps: () => [
      tap(beforeClientSave, async ({ changes }) => {
        const emails = changes.flatMap(({ before }) => before?.email ?? []);
        this.check(emails);
        // Single edits of the test pass.
        if (emails.length < 2) return;
        const number = ++this.arrived;
        await until(() => number <= this.passes, `portion ${number} may pass`);
      }),
    ],
  });
}

export async function boot(t: ExecutionContext, plugins: readonly Plugin[] = []) {
  const engine = new FakeEngine();
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  const limits = { tap: 60_000 };
  const panel = await TestPanel.boot({ plugins: [engine.plugin, ...plugins], clock, limits });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return { panel, engine, clock, inbound: await panel.addInbound() };
}

export const emailOf = (i: number): string => `c${String(i).padStart(6, '0')}`;

/** Creates clients c000000, c000001, …; `fieldsOf` may give each other fields. */
export async function addClients(
  panel: PanelApi,
  inbound: number,
  count: number,
  fieldsOf: (i: number) => object = () => ({}),
): Promise<void> {
  for (let from = 0; from < count; from += 5_000) {
    const body = Array.from({ length: Math.min(5_000, count - from) }, (_, i) => ({
      client: { email: emailOf(from + i), expiryTime: EXPIRY, ...fieldsOf(from + i) },
      inboundIds: [inbound],
    }));
    const { created } = await panel.get<{ created: number }>('/panel/api/clients/bulkCreate', { body });
    if (created !== body.length) throw new Error(`only ${created} of ${body.length} clients were created`);
  }
}

export const start = (panel: PanelApi, body: object): Promise<Started> => panel.get(JOBS, { body });
export const jobOf = (panel: PanelApi, id: number): Promise<Job> => panel.get(`${JOBS}/${id}`);
export async function ended(panel: PanelApi, id: number): Promise<Job> {
  await until(async () => (await jobOf(panel, id)).endedAt !== null, `the end of job ${id}`);
  return jobOf(panel, id);
}
/** Starts a job and waits for its end. */
export const run = async (panel: PanelApi, body: object): Promise<Job> =>
  ended(panel, (await start(panel, body)).id);
export const skippedOf = (panel: PanelApi, id: number, query = ''): Promise<Skipped> =>
  panel.get(`${JOBS}/${id}/skipped${query}`);
export const clientsOf = (panel: PanelApi): Promise<Client[]> => panel.get('/panel/api/clients/list');
export const clientOf = (panel: PanelApi, email: string): Promise<Client> =>
  panel.get(`/panel/api/clients/get/${email}`);
/** Emails that list/paged shows with this filter, by id. */
export async function listed(
  panel: PanelApi,
  filter: Readonly<Record<string, string | number>>,
): Promise<string[]> {
  const emails: string[] = [];
  for (let page = 1; ; page++) {
    const query = new URLSearchParams({
      ...(filter as Record<string, string>),
      page: String(page),
      pageSize: '200',
    });
    const { items, filtered } = await panel.get<{ items: Client[]; filtered: number }>(
      `/panel/api/clients/list/paged?${query}`,
    );
    emails.push(...items.map(({ email }) => email));
    if (emails.length >= filtered) return emails;
  }
}
