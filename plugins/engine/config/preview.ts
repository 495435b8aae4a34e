// Says what a change of the config would do to the running core.
import type { Applied } from '../apply/applied.js';
import type { Composition, Replacement } from './composition.js';
import type { CoreChange, CorePreview } from '../contract.js';
import { digestOf } from './digest.js';
import { type CoreBase, type CoreDriver, CoreUnreachable, type JsonObject } from '../driver.js';
import { baseDifference, difference, type Plan, type PlannedInbound } from './plan.js';
import { userOf } from '../users/user-name.js';

interface Needs {
  readonly composition: Composition;
  readonly applied: Applied;
  /** undefined without a core */
  readonly driver: () => CoreDriver | undefined;
  readonly running: () => boolean;
}

export class Preview {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** What the core does not run yet. */
  async pending(): Promise<CoreChange> {
    return this.#change(await this.#needs.composition.plan());
  }

  /** Has the core test the parts too. Rejects when it cannot be asked. */
  async of(replacement: Replacement): Promise<CorePreview> {
    const { composition, driver } = this.#needs;
    const { plan, problems } = await composition.planWith(replacement);
    const core = driver();
    if (problems.length === 0 && core)
      problems.push(...(await composition.rejectedParts(core, plan, replacement.parts)));
    return { ...(await this.#change(plan)), problems, tested: core !== undefined };
  }

  async #change(plan: Plan): Promise<CoreChange> {
    const { applied, running } = this.#needs;
    if (!running())
      return { ...NOTHING, change: 'start', inbounds: { put: [...plan.inbounds.keys()], remove: [] } };
    const base = baseDifference(plan, applied.digests);
    const { put, remove } = difference(plan, applied.digests);
    const inbounds = { put: put.map(({ tag }) => tag), remove };
    const hot = typeof base === 'object' ? base : undefined;
    const change = base === 'restart' ? base : hot || put.length + remove.length > 0 ? 'hot' : 'none';
    // Those that are removed are not known here: their connections may end too.
    const replaced = put.filter(
      ({ tag, config }) => applied.digests.inbounds[tag] && endsConnections(config),
    );
    return {
      change,
      inbounds,
      outbounds: { put: [...(hot?.put ?? [])], remove: [...(hot?.remove ?? [])] },
      rules: hot?.rules ?? false,
      sections: base === 'restart' ? changedSections(plan.base, applied.base) : [],
      connections: await this.#ended(change, replaced),
    };
  }

  async #ended(
    change: CoreChange['change'],
    replaced: readonly PlannedInbound[],
  ): Promise<CoreChange['connections']> {
    const all = change === 'restart';
    if (!all && replaced.length === 0) return NOTHING.connections;
    const ids = new Set(replaced.map(({ id }) => id));
    let users = 0;
    try {
      await this.#needs.driver()?.online?.((names) => {
        users = names.filter((name) => all || ids.has(userOf(name)?.inboundId ?? -1)).length;
        return [];
      });
    } catch (error) {
      // It restarts now, or hangs: a look at a change needs no answer of the running core.
      if (!(error instanceof CoreUnreachable)) throw error;
    }
    return { end: all ? 'all' : 'some', inbounds: replaced.map(({ tag }) => tag), users };
  }
}

const NOTHING: CoreChange = {
  change: 'none',
  inbounds: { put: [], remove: [] },
  outbounds: { put: [], remove: [] },
  rules: false,
  sections: [],
  connections: { end: 'none', inbounds: [], users: 0 },
};

const REST = 'the rest of the config';

/** The running base is not known when a previous panel of another version started the core. */
function changedSections(next: CoreBase, running: CoreBase | undefined): string[] {
  if (!running) return [REST];
  const names = [...new Set([...Object.keys(next), ...Object.keys(running)])];
  const isOther = (name: string): boolean => digestOf(next[name] ?? null) !== digestOf(running[name] ?? null);
  return names.filter((name) => name !== 'outbounds' && name !== 'routing' && isOther(name)).sort();
}

/** Transports whose connections the core ends with their inbound; those of others go on. */
const ENDED = new Set(['grpc', 'kcp', 'mkcp', 'hysteria']);
function endsConnections({ protocol, streamSettings }: JsonObject): boolean {
  const { network, tlsSettings } = (streamSettings ?? {}) as { network?: string; tlsSettings?: JsonObject };
  if (protocol === 'hysteria' || protocol === 'wireguard' || ENDED.has(network ?? '')) return true;
  // XHTTP over HTTP/3
  return (network === 'xhttp' || network === 'splithttp') && String(tlsSettings?.['alpn']) === 'h3';
}
