// Who is connected through other machines, as plugins that talk to them report it. A report counts until the next one of
// the same machine, and no longer than 20 seconds: a machine that falls silent has nobody online.
import { type Clock, extensionPoint, type PluginContext } from '../../kernel/index.js';
import type { PanelIdentityApi } from '../settings/contract.js';

/** Who is connected through one machine now. */
export interface ReportedUsers {
  /** ids of clients */
  readonly clients: readonly number[];
  /** ids of inbounds that move bytes */
  readonly inbounds: readonly number[];
}
export interface PresenceOutput {
  /** Replaces the last report of the panel with this guid. Throws for anything but a guid of another panel and lists of ids. */
  report(guid: string, users: ReportedUsers): void;
}
/** Reports who is connected through other machines. */
export interface PresenceReporter {
  start(output: PresenceOutput): void;
}
/** Who is connected through other machines: shown under their guids, beside those whose bytes a source counted. */
export const PresenceReporters = extensionPoint<PresenceReporter>(
  'traffic',
  'PresenceReporters',
  ({ start }) => (typeof start === 'function' ? undefined : 'it needs the function start'),
);

const GUID = /^[\w:.-]{1,64}$/;
const MOST_PANELS = 1_000;
const MOST_IDS = 1_000_000;

interface Report {
  readonly at: number;
  readonly clients: ReadonlySet<number>;
  readonly inbounds: ReadonlySet<number>;
}
const NO_IDS: ReadonlySet<number> = new Set();

function idsOf(name: string, ids: readonly number[]): ReadonlySet<number> {
  if (!Array.isArray(ids) || ids.length > MOST_IDS)
    throw new TypeError(`${name} of a report must be a list of at most ${MOST_IDS} ids`);
  for (const id of ids) if (!Number.isSafeInteger(id)) throw new TypeError(`${name} of a report must be ids`);
  return new Set(ids);
}

export class ReportedPresence {
  readonly #clock: Clock;
  readonly #identity: PanelIdentityApi;
  readonly #reports = new Map<string, Report>();
  /** client → Unix ms of the latest report that had it; asked for each client of a list */
  readonly #clients = new Map<number, number>();
  #lasts = 0;
  /** Unix ms */
  #tidiedAt = 0;

  constructor({ clock, identity }: { clock: Clock; identity: PanelIdentityApi }) {
    this.#clock = clock;
    this.#identity = identity;
  }

  /** `lasts`: ms for which a report counts. */
  open(contributions: PluginContext['contributions'], lasts: number): void {
    this.#lasts = lasts;
    for (const { value, fault } of contributions(PresenceReporters))
      try {
        value.start({ report: (guid, users) => this.#report(guid, users) });
      } catch (error) {
        fault('the start of reports', error);
      }
  }

  #report(guid: string, users: ReportedUsers): void {
    if (typeof guid !== 'string' || !GUID.test(guid) || guid === this.#identity.guid)
      throw new TypeError('a report needs the guid of another panel');
    const at = this.#clock.now();
    const report = {
      at,
      clients: idsOf('clients', users.clients),
      inbounds: idsOf('inbounds', users.inbounds),
    };
    this.#tidy();
    const previous = this.#reports.get(guid)?.clients ?? NO_IDS;
    if (!this.#reports.has(guid) && this.#reports.size >= MOST_PANELS)
      throw new TypeError(`at most ${MOST_PANELS} panels can report who is online`);
    this.#reports.set(guid, report);
    for (const id of previous) if (!report.clients.has(id)) this.#left(id);
    for (const id of report.clients) this.#clients.set(id, at);
  }

  /** It may be connected through another machine still. */
  #left(id: number): void {
    this.#clients.delete(id);
    for (const [, { at, clients }] of this.now())
      if (clients.has(id)) this.#clients.set(id, Math.max(at, this.#clients.get(id) ?? 0));
  }

  /** At most once a second: a hundred machines report. */
  #tidy(): void {
    const now = this.#clock.now();
    if (Math.abs(now - this.#tidiedAt) < 1000) return;
    this.#tidiedAt = now;
    for (const [guid, { at }] of this.#reports) if (!this.#counts(at)) this.#reports.delete(guid);
    for (const [id, at] of this.#clients) if (!this.#counts(at)) this.#clients.delete(id);
  }

  #counts(at: number | undefined): boolean {
    return at !== undefined && at > this.#clock.now() - this.#lasts;
  }

  has(clientId: number): boolean {
    return this.#counts(this.#clients.get(clientId));
  }

  /** Reports that count, by guid. */
  *now(): Generator<readonly [guid: string, report: Report]> {
    for (const [guid, report] of this.#reports) if (this.#counts(report.at)) yield [guid, report];
  }
}
