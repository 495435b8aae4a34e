// Balancers of the running core: what they choose, and overrides that outlive the core.
import { type Database, type Log, messageOf, type Principal, SerialQueue } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { PanelsApi } from '../cluster/contract.js';
import type { CoreOutboundsApi, CoreRoutesApi } from '../engine/contract.js';
import { errors } from './errors.js';
import type { OverrideStore } from './override-store.js';

export interface ShownBalancer {
  readonly tag: string;
  /** whether the running core has it */
  readonly running: boolean;
  readonly override: string;
  readonly selected: readonly string[] | null;
}
interface Needs {
  readonly db: Database;
  readonly log: Log;
  readonly overrides: OverrideStore;
  readonly coreRoutes: CoreRoutesApi | undefined;
  readonly configured: CoreOutboundsApi | undefined;
  readonly audit?: AuditTrailApi | undefined;
  readonly panels?: Pick<PanelsApi, 'leads' | 'hasOwnCore'> | undefined;
}

export class Balancers {
  readonly #needs: Needs;
  /** Two changes of one override at once could leave the core with the one and the database with the other. */
  readonly #queue = new SerialQueue();
  /** of overrides that are not in force, by tag; each is logged once */
  readonly #reasons = new Map<string, string>();
  /** `changes` of the overrides that the core was last given */
  #given = 0;

  constructor({ db, log, overrides, coreRoutes, configured, audit, panels }: Needs) {
    this.#needs = { db, log, overrides, coreRoutes, configured, audit, panels };
  }

  /** Without tags, all of the config. */
  async status(tags: readonly string[] | undefined): Promise<Record<string, ShownBalancer>> {
    const { coreRoutes } = this.#needs;
    const asked = tags ?? [...((await coreRoutes?.balancers()) ?? [])];
    const shown = await Promise.all(
      asked.map(async (tag) => {
        const state = await coreRoutes?.balancer(tag).catch(() => undefined);
        return [
          tag,
          {
            tag,
            running: state !== undefined,
            override: state?.override ?? '',
            selected: state ? [...state.selected] : null,
          },
        ] as const;
      }),
    );
    return Object.fromEntries(shown);
  }

  /** Stores the override and makes the core follow. Resolves with what is to be said of it. */
  override(tag: string, target: string, who: Principal): Promise<string> {
    return this.#queue.run(async () => {
      const { db, overrides, coreRoutes, audit } = this.#needs;
      const isKnown = (await coreRoutes?.balancers())?.has(tag) ?? false;
      if (!isKnown && !(target === '' && overrides.all.has(tag)))
        throw errors.NO_BALANCER(`there is no balancer ${JSON.stringify(tag)}`, { path: 'tag' });
      const outbound = target === '' ? '' : await this.#outboundOf(target);
      const before = { target: overrides.all.get(tag) ?? '' };
      await db.write(async (tx) => {
        await overrides.set(tx, tag, outbound);
        await audit?.record(tx, 'balancerOverride', who, [
          { kind: 'updated', name: tag, before, after: { target: outbound } },
        ]);
      });
      this.#reasons.delete(tag);
      const inForce = await this.#apply(tag, outbound);
      const done =
        outbound === ''
          ? `the balancer ${tag} chooses by itself`
          : `the balancer ${tag} uses the outbound ${outbound}`;
      return inForce || !isKnown ? done : `${done}; the core does not have it yet`;
    });
  }

  /** A balancer cannot lead to another one; some configs have an outbound that leads back to its rule. */
  async #outboundOf(target: string): Promise<string> {
    const tags = (await this.#needs.configured?.tags()) ?? new Set<string>();
    const found = [target, `_bl_${target}`].find((tag) => tags.has(tag));
    if (found !== undefined) return found;
    throw errors.NO_OUTBOUND(`there is no outbound ${JSON.stringify(target)}`, { path: 'target' });
  }

  /** Another panel of this database has changed something: where that is an override, the core of this panel follows. */
  async followOthers(): Promise<void> {
    if (this.#needs.overrides.changes !== this.#given) await this.sync();
  }

  /** Makes the core have all overrides, and no others; called when it may have lost or regained some. Never rejects. */
  sync(): Promise<void> {
    return this.#queue.run(async () => {
      const { overrides, configured, coreRoutes, panels } = this.#needs;
      // Where another panel runs the only core, to compose the config would be for nothing.
      if (panels && !panels.leads && !panels.hasOwnCore) return;
      this.#given = overrides.changes;
      try {
        // One that has ended is still there when its balancer becomes again what it was: the core keeps each with its override.
        for (const tag of (await coreRoutes?.balancers()) ?? [])
          if (!overrides.all.has(tag)) await this.#apply(tag, '');
        if (overrides.all.size === 0) return;
        const tags = (await configured?.tags()) ?? new Set<string>();
        for (const [tag, target] of overrides.all) {
          // To an outbound that is gone, the core would send everything nowhere.
          const isThere = tags.has(target);
          await this.#apply(tag, isThere ? target : '');
          this.#note(tag, isThere ? '' : `the config has no outbound ${target}`);
        }
      } catch (error) {
        this.#note('', messageOf(error));
      }
    });
  }

  #note(tag: string, reason: string): void {
    if ((this.#reasons.get(tag) ?? '') === reason) return;
    this.#reasons.set(tag, reason);
    if (reason !== '')
      this.#needs.log.warn('the override of a balancer is not in force', { balancer: tag, reason });
  }

  /** Resolves with whether the core has it. */
  async #apply(tag: string, target: string): Promise<boolean> {
    const { coreRoutes } = this.#needs;
    try {
      return (await coreRoutes?.override(tag, target)) ?? false;
    } catch (error) {
      this.#note(tag, messageOf(error));
      return false;
    }
  }
}
