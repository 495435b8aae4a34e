// Validates an inbound before it is saved.
import {
  type Hooks,
  inspect,
  type Issue,
  issuesAt,
  kernelErrors,
  type Principal,
  refuseHidden,
} from '../../kernel/index.js';
import { CoreRefused, type EngineApi, ProtocolRefused, userName } from '../engine/contract.js';
import { type ConfigPart, type CoreGuardApi, type Finding, OWN_TAG_PREFIX } from '../core-guard/contract.js';
import { ANYBODY, anybodyIn, clientlessReason } from './accounts.js';
import { type AddOptions, beforeInboundSave, type Protocol } from './contract.js';
import { coreInbound } from './core-inbound.js';
import { errors } from './errors.js';
import type { KnownProtocols } from './known-protocols.js';
import { refusePortInUse, refuseTakenPort, samePlace } from './ports.js';
import type { Inbound } from './schema.js';
import { refuseTooMuch } from './size.js';
import type { InboundStore } from './store.js';
import { pairIssues } from './stream/pairing.js';
import { coreStream, streamIssues } from './stream/stream.js';

type Draft = Omit<Inbound, 'id'>;

const isGenerated = (tag: string, port: number): boolean =>
  tag.startsWith(`in-${port}-tcp`) && /^in-\d+-tcp(?:-\d+)?$/.test(tag);

/** Returns the tag that was sent, or one generated from the port. A generated tag changes with its port. */
function tagFor(wanted: Draft, before: Inbound | undefined, others: readonly Inbound[]): string {
  const moved =
    before !== undefined &&
    before.port !== wanted.port &&
    wanted.tag === before.tag &&
    isGenerated(before.tag, before.port);
  if (wanted.tag !== '' && !moved) return wanted.tag;
  const taken = new Set(others.map(({ tag }) => tag));
  const plain = `in-${wanted.port}-tcp`;
  let free = plain;
  for (let i = 2; taken.has(free); i++) free = `${plain}-${i}`;
  return free;
}

/** The parts of the core's config that callers write freely. */
const freeParts = ({ listen, settings, streamSettings, sniffing }: Draft): ConfigPart => ({
  listen,
  settings,
  streamSettings,
  sniffing,
});

export class InboundCheck {
  readonly #hooks: Hooks;
  readonly #store: InboundStore;
  readonly #protocols: KnownProtocols;
  readonly #engine: EngineApi;
  readonly #guard: CoreGuardApi;

  constructor(needs: {
    hooks: Hooks;
    store: InboundStore;
    protocols: KnownProtocols;
    engine: EngineApi;
    guard: CoreGuardApi;
  }) {
    this.#protocols = needs.protocols;
    this.#hooks = needs.hooks;
    this.#store = needs.store;
    this.#engine = needs.engine;
    this.#guard = needs.guard;
  }

  /** Resolves with the inbound to write, and with the destinations that only `options` allow. Rejects with the errors of `add`. */
  async run(
    wanted: Draft,
    before: Inbound | undefined,
    who: Principal,
    { keepDestinations = false }: AddOptions = {},
  ): Promise<{ draft: Draft; kept: readonly string[] }> {
    const protocol = this.#protocols.get(wanted.protocol);
    if (!protocol)
      throw errors.UNKNOWN_PROTOCOL(
        `no plugin knows the protocol ${wanted.protocol}; there are ${this.#protocols.names().join(', ')}`,
        {
          path: 'protocol',
        },
      );
    if (wanted.remark !== before?.remark) refuseHidden('remark', wanted.remark, 'label');
    if (wanted.tag !== before?.tag) {
      refuseHidden('tag', wanted.tag, 'name');
      if (wanted.tag.startsWith(OWN_TAG_PREFIX))
        throw kernelErrors.INVALID(
          `tags that begin with ${OWN_TAG_PREFIX} belong to the panel; choose another`,
          {
            path: 'tag',
          },
        );
    }
    refuseTooMuch(wanted);
    const { clients: _managedElsewhere, ...sent } = wanted.settings;
    const stored = before?.protocol === wanted.protocol ? before.settings : undefined;
    const own = protocol.complete?.(sent, stored) ?? sent;
    const settings = inspect(protocol.settings, own);
    const others = this.#store.list().filter(({ id }) => id !== before?.id);
    // Includes what the panel adds: the core may read another key in its place, and that key would win.
    const part = {
      ...wanted,
      settings: 'value' in settings ? settings.value : own,
      streamSettings: { security: 'none', ...coreStream(wanted.streamSettings) },
    };
    const found = await this.#guard.examine(freeParts(part), { inbounds: others });
    const kept = this.#kept(found, before, keepDestinations);
    const refused = found.filter(
      ({ destination }) => destination === undefined || !kept.includes(destination),
    );
    const issues: Issue[] = [
      ...issuesAt('settings', settings),
      ...refused.map(({ path, message }) => ({ path, message })),
    ];
    // It opens certificates: a refused file would be reported twice.
    if (refused.length === 0)
      issues.push(
        ...(await streamIssues(wanted.streamSettings, (path) => this.#guard.readCertificate(path))),
      );
    if (issues.length === 0) issues.push(...pairIssues(protocol, wanted.streamSettings));
    if (issues.length > 0)
      throw kernelErrors.INVALID(issues.map(({ message }) => message).join('; '), { issues });
    const draft: Draft = {
      ...wanted,
      settings: 'value' in settings ? settings.value : {},
      tag: tagFor(wanted, before, others),
    };
    await this.#hooks.check(beforeInboundSave, { before, after: draft, who });
    refuseTakenPort(others, draft);
    if (others.some(({ tag }) => tag === draft.tag))
      throw errors.TAG_TAKEN(`another inbound has the tag ${draft.tag}`, { path: 'tag' });
    // Where this inbound listens already, our own core holds the port.
    if (draft.enable && !(before?.enable && samePlace(before, draft))) await refusePortInUse(draft);
    await this.#examine({ ...draft, id: before?.id ?? 0 }, protocol);
    return { draft, kept };
  }

  /** Destinations that stay although the setting does not name them: those the inbound has already, or with `all` every one. */
  #kept(found: readonly Finding[], before: Inbound | undefined, all: boolean): readonly string[] {
    const had = new Set(before ? this.#guard.destinations(freeParts(before)) : []);
    const unnamed = found.flatMap(({ destination }) => destination ?? []);
    return [...new Set(unnamed)].filter((destination) => all || had.has(destination));
  }

  async #examine(inbound: Inbound, protocol: Protocol): Promise<void> {
    if (protocol.runBy === 'program') return;
    const name = userName({ inboundId: inbound.id, clientId: ANYBODY.id });
    const sample =
      clientlessReason(protocol, inbound) === undefined
        ? { name, account: protocol.account(anybodyIn(inbound, protocol), inbound) }
        : undefined;
    try {
      await this.#engine.examine(coreInbound(inbound, protocol), sample);
    } catch (cause) {
      if (cause instanceof ProtocolRefused)
        throw errors.CORE_REFUSED(
          `the core cannot serve the protocol ${protocol.name} of the plugin ${this.#protocols.pluginOf(protocol.name)}: ${cause.message}`,
          { cause, path: 'protocol' },
        );
      if (cause instanceof CoreRefused)
        throw errors.CORE_REFUSED(`the core refuses this inbound: ${cause.message}`, {
          cause,
          path: 'streamSettings',
        });
      throw cause;
    }
  }
}
