// Where inbounds run. A plugin that knows nodes may fail: its nodes are unknown then, and nothing of theirs runs here.
import { type Contributed, kernelErrors, type PluginContext } from '../../../kernel/index.js';
import type { PanelIdentityApi } from '../../settings/contract.js';
import { errors } from '../errors.js';
import type { Inbound } from '../fields.js';
import { type InboundPlace, InboundPlaces, type InboundPlacesApi } from './inbound-places.js';

type Placed = Pick<Inbound, 'nodeId'> & { readonly originGuid?: string };

/** A host name or an address, an IPv6 one with or without brackets. */
const ADDRESS = /^[A-Za-z0-9.:_[\]-]{0,255}$/;
const LONGEST = 255;

/** Whether this machine runs it. Ask `LocalInbounds` instead, outside this plugin. */
export const runsHere = ({ nodeId }: Placed): boolean => nodeId === null;
/** Whether one machine runs both. */
export const isSamePlace = (a: Placed, b: Placed): boolean =>
  a.nodeId === b.nodeId && (a.originGuid ?? '') === (b.originGuid ?? '');

export class Places {
  readonly #contributions: PluginContext['contributions'];
  readonly #identity: PanelIdentityApi;
  /** plugins that fail now: each is reported once, as all replies ask */
  readonly #failing = new Set<string>();

  constructor({
    contributions,
    identity,
  }: Pick<PluginContext, 'contributions'> & { identity: PanelIdentityApi }) {
    this.#contributions = contributions;
    this.#identity = identity;
  }

  /** The machine that runs the inbound. Of an unknown node, only the name is there; of one below a node, the name is that of the node. */
  of({ nodeId, originGuid = '' }: Placed): InboundPlace {
    if (nodeId === null) return { guid: this.#identity.guid, name: '', address: '' };
    const node = this.find(nodeId);
    const name = node?.name ?? `#${nodeId}`;
    if (originGuid === '') return { guid: '', address: '', ...node, name };
    return { guid: originGuid, name, address: this.#below(nodeId, originGuid)?.address ?? '' };
  }

  find(nodeId: number): InboundPlace | undefined {
    return this.#first((api) => api.place(nodeId));
  }
  #below(nodeId: number, guid: string): InboundPlace | undefined {
    return this.#first((api) => api.below?.(nodeId, guid));
  }
  #first(ask: (api: InboundPlacesApi) => InboundPlace | undefined): InboundPlace | undefined {
    for (const known of this.#contributions(InboundPlaces)) {
      const place = this.#ask(known, ask);
      if (place) return place;
    }
    return undefined;
  }

  /** Throws UNKNOWN_NODE where an inbound moves to an unknown node. One that it runs on may be unknown: it can still be moved away. */
  require(wanted: Placed, before: Placed | undefined): void {
    const { nodeId } = wanted;
    if (nodeId === null || (before && isSamePlace(before, wanted)) || this.find(nodeId)) return;
    throw errors.UNKNOWN_NODE(`nodeId: there is no node ${nodeId}; null is this machine`, { path: 'nodeId' });
  }

  #ask(
    { value, plugin, fault }: Contributed<InboundPlacesApi>,
    ask: (api: InboundPlacesApi) => InboundPlace | undefined,
  ): InboundPlace | undefined {
    try {
      const place = ask(value);
      const read = place && checked(place);
      this.#failing.delete(plugin);
      return read;
    } catch (error) {
      if (!this.#failing.has(plugin)) fault('a node', error);
      this.#failing.add(plugin);
      return undefined;
    }
  }
}

function checked({ guid, name, address }: InboundPlace): InboundPlace {
  for (const [field, value] of Object.entries({ guid, name, address }))
    if (typeof value !== 'string' || value.length > LONGEST)
      throw kernelErrors.INVALID(`${field} of a node must be a text of at most ${LONGEST} characters`);
  if (!ADDRESS.test(address)) throw kernelErrors.INVALID('address of a node must be a host without a port');
  return { guid, name, address };
}
