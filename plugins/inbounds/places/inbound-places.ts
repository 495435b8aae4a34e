// Other machines that run inbounds: who knows them says here what they are called and where they are reached.
import { extensionPoint } from '../../../kernel/index.js';

/** A machine that runs inbounds: a node, or this one. */
export interface InboundPlace {
  /** guid of its panel; empty when it is not known yet */
  readonly guid: string;
  /** name for people; empty for this machine */
  readonly name: string;
  /** host for links; empty when it is not known, and for this machine */
  readonly address: string;
}
/** Knows nodes. When the guid or the address of one changes, compose the links of its inbounds again: `WaySources` of the subscription, with `Inbounds.beside({ nodeId })`. */
export interface InboundPlacesApi {
  /** Returns the node with this id; undefined when there is none. From memory: it is asked for each reply and each link. */
  place(nodeId: number): InboundPlace | undefined;
  /** Returns the machine with this guid below the node; undefined when it is not known. From memory as well. */
  below?(nodeId: number, guid: string): InboundPlace | undefined;
}
/** Who knows other machines that run inbounds. The first that knows a node answers. */
export const InboundPlaces = extensionPoint<InboundPlacesApi>('inbounds', 'InboundPlaces', ({ place }) =>
  typeof place === 'function' ? undefined : 'it needs the function place',
);
