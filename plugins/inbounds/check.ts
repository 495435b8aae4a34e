// Validates an inbound before it is saved.
import {
  type Hooks,
  inspect,
  type Issue,
  issuesAt,
  kernelErrors,
  type Principal,
  refuseHidden,
  sentenceOf,
} from '../../kernel/index.js';
import {
  CoreRefused,
  type EngineApi,
  type JsonObject,
  ProtocolRefused,
  userName,
} from '../engine/contract.js';
import {
  type ConfigPart,
  type CoreGuardApi,
  type Finding,
  isSocket,
  OWN_TAG_PREFIX,
} from '../core-guard/contract.js';
import type { ListenerPlacesApi } from '../settings/contract.js';
import { ANYBODY, anybodyIn, clientlessReason } from './accounts.js';
import { type AddOptions, beforeInboundSave, coreSettings, type Protocol } from './contract.js';
import { coreInbound } from './core-inbound.js';
import { errors } from './errors.js';
import type { KnownProtocols } from './contributed/known-protocols.js';
import { l4Of, overlaps, placeKey } from './ports/listening.js';
import { normalForm } from './normal-form.js';
import { refusePanelPort, refusePortInUse, refuseSocketInUse, refuseTakenPort } from './ports/taken-ports.js';
import { localOf, type LocalInboundsApi } from './places/local-inbounds.js';
import { type Places, runsHere } from './places/places.js';
import type { Inbound } from './schema.js';
import { refuseTooMuch } from './size.js';
import type { InboundStore } from './store.js';
import { pairIssues } from './stream/pairing.js';
import { Sniffing } from './stream/sniffing.js';
import { coreStream, streamIssues, transportL4 } from './stream/stream.js';
import { tagFor } from './tags.js';

type Draft = Omit<Inbound, 'id'>;

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
  readonly #listeners: ListenerPlacesApi;
  readonly #places: Places;
  readonly #local: LocalInboundsApi;

  constructor(needs: {
    hooks: Hooks;
    store: InboundStore;
    protocols: KnownProtocols;
    engine: EngineApi;
    guard: CoreGuardApi;
    listeners: ListenerPlacesApi;
    places: Places;
  }) {
    this.#protocols = needs.protocols;
    this.#hooks = needs.hooks;
    this.#store = needs.store;
    this.#engine = needs.engine;
    this.#guard = needs.guard;
    this.#listeners = needs.listeners;
    this.#places = needs.places;
    this.#local = localOf(needs.store);
  }

  /** Resolves with the inbound to write, and with the destinations that only `options` allow. Rejects with the errors of `add`. */
  async run(
    sent: Draft,
    before: Inbound | undefined,
    who: Principal,
    { keepDestinations = false }: AddOptions = {},
  ): Promise<{ draft: Draft; kept: readonly string[] }> {
    const wanted = normalForm(sent, this.#protocols);
    const protocol = this.#protocols.get(wanted.protocol);
    if (!protocol)
      throw errors.UNKNOWN_PROTOCOL(
        `no plugin knows the protocol ${wanted.protocol}; there are ${this.#protocols.names().join(', ')}`,
        {
          path: 'protocol',
        },
      );
    this.#places.require(wanted, before);
    const isHere = runsHere(wanted);
    /** What another machine had says nothing about this one. */
    const hereBefore = before && runsHere(before) ? before : undefined;
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
    const { clients: _managedElsewhere, ...sentSettings } = wanted.settings;
    const stored = before?.protocol === wanted.protocol ? before.settings : undefined;
    const own = protocol.complete?.(sentSettings, stored) ?? sentSettings;
    const settings = inspect(protocol.settings, own);
    const others = this.#local.list().filter(({ id }) => id !== before?.id);
    // Includes what the panel adds: the core may read another key in its place, and that key would win.
    const part = {
      ...wanted,
      settings: 'value' in settings ? settings.value : own,
      streamSettings: { security: 'none', ...coreStream(wanted.streamSettings) },
    };
    const found = await this.#guard.examine(freeParts(part), {
      inbounds: others,
      elsewhere: !isHere,
    });
    const kept = this.#kept(found, hereBefore, keepDestinations);
    const refused = found.filter(
      ({ destination }) => destination === undefined || !kept.includes(destination),
    );
    const issues: Issue[] = [
      ...issuesAt('settings', settings),
      // A program of its own does not get it.
      ...(protocol.runBy === 'program' ? [] : issuesAt('sniffing', inspect(Sniffing, wanted.sniffing))),
      ...refused.map(({ path, message }) => ({ path, message })),
    ];
    // It opens certificates: a refused file would be reported twice.
    if (refused.length === 0)
      issues.push(
        ...(await streamIssues(
          wanted.streamSettings,
          isHere ? (path) => this.#guard.readCertificate(path) : undefined,
        )),
      );
    // What the core has dropped is refused with its own words.
    const ofCore = ['streamSettings.network', 'streamSettings.security'];
    if (issues.length > 0 && issues.every(({ path }) => ofCore.includes(path)))
      await this.#examine({ ...wanted, tag: wanted.tag || 'examined', id: before?.id ?? 0 }, protocol);
    if (issues.length === 0) issues.push(...pairIssues(protocol, wanted.streamSettings));
    if (issues.length > 0) throw kernelErrors.INVALID(sentenceOf(issues), { issues });
    const valid = {
      ...wanted,
      settings: await this.#reserved('value' in settings ? settings.value : {}, wanted, hereBefore, protocol),
    };
    const l4 = l4Of(protocol, valid);
    const l4Before = before ? l4Of(this.#protocols.get(before.protocol), before) : [];
    const isTaken = (tag: string): boolean => (this.#store.idOfTag(tag) ?? before?.id) !== before?.id;
    const draft: Draft = {
      ...valid,
      tag: tagFor({ ...valid, l4 }, before && { ...before, l4: l4Before }, isTaken),
    };
    await this.#hooks.check(beforeInboundSave, { before, after: draft, who });
    if (isTaken(draft.tag))
      throw errors.TAG_TAKEN(`another inbound has the tag ${draft.tag}`, { path: 'tag' });
    this.#refuseTakenPlace(draft, protocol, before?.id);
    // Where this inbound listens already, our own core holds the port.
    const isSame = before?.enable === true && overlaps(before, draft);
    const held = isSame ? l4Before : [];
    if (isHere && draft.enable && isSocket(draft.listen) && !isSame) await refuseSocketInUse(draft.listen);
    if (isHere && draft.enable)
      await refusePortInUse(
        draft,
        l4.filter((one) => !held.includes(one)),
      );
    await this.#examine({ ...draft, id: before?.id ?? 0 }, protocol);
    return { draft, kept };
  }

  #refuseTakenPlace(draft: Draft, protocol: Protocol, ownId: number | undefined): void {
    const l4 = l4Of(protocol, draft);
    if (draft.port === 0 && !isSocket(draft.listen) && l4.length > 0)
      throw kernelErrors.INVALID('port: 0 is for inbounds that listen on a Unix socket or on no port', {
        path: 'port',
      });
    if (isSocket(draft.listen) && !protocol.socket)
      throw kernelErrors.INVALID(`listen: the core does not serve ${protocol.name} on a Unix socket`, {
        path: 'listen',
      });
    if (isSocket(draft.listen) && transportL4(draft.streamSettings) === 'udp')
      throw kernelErrors.INVALID('listen: a Unix socket carries no UDP; choose another network', {
        path: 'listen',
      });
    const others = this.#store.at(placeKey(draft)).filter(({ id }) => id !== ownId);
    refuseTakenPort(
      others.map((inbound) => ({ inbound, l4: l4Of(this.#protocols.get(inbound.protocol), inbound) })),
      draft,
      l4,
    );
    if (runsHere(draft)) refusePanelPort(this.#listeners, draft, l4);
  }

  /** Destinations that stay although the setting does not name them: those the inbound has already, or with `all` every one. */
  #kept(found: readonly Finding[], before: Inbound | undefined, all: boolean): readonly string[] {
    const had = new Set(before ? this.#guard.destinations(freeParts(before)) : []);
    const unnamed = found.flatMap(({ destination }) => destination ?? []);
    return [...new Set(unnamed)].filter((destination) => all || had.has(destination));
  }

  /** Has the core test the inbound with changed settings; one of a node is not tested. */
  async test(inbound: Inbound, change: (settings: JsonObject) => JsonObject): Promise<void> {
    const protocol = this.#protocols.get(inbound.protocol);
    if (protocol) await this.#examine(inbound, protocol, change);
  }

  /** The settings with what the panel itself holds for the inbound. */
  async #reserved(
    settings: Draft['settings'],
    wanted: Draft,
    before: Inbound | undefined,
    protocol: Protocol,
  ): Promise<Draft['settings']> {
    if (!protocol.reserve || !runsHere(wanted)) return settings;
    const ports = new Set(this.#local.list().map(({ port }) => port));
    return protocol.reserve(settings, {
      before: before?.protocol === wanted.protocol ? before.settings : undefined,
      isTaken: (port) => port === wanted.port || ports.has(port),
    });
  }

  /** Without `change`, with what other plugins add to the settings now. */
  async #examine(
    inbound: Inbound,
    protocol: Protocol,
    change = (settings: JsonObject): JsonObject => this.#hooks.refine(coreSettings, settings, { inbound }),
  ): Promise<void> {
    // The core of a node may be another one.
    if (protocol.runBy === 'program' || !runsHere(inbound)) return;
    const name = userName({ inboundId: inbound.id, clientId: ANYBODY.id });
    const sample =
      clientlessReason(protocol, inbound) === undefined
        ? { name, account: protocol.account(anybodyIn(inbound, protocol), inbound) }
        : undefined;
    try {
      await this.#engine.examine(coreInbound(inbound, protocol, change), sample);
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
