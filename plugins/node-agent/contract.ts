// What a central needs to compare records with this plugin at its nodes, and what this one learns from panels above it.
import { event } from '../../kernel/index.js';

export { NOT_OFFERED, type OfferedClient, type OfferedInbound, type OwnInbound } from './offered.js';
export { bucketOf, BUCKETS, digestOf, digestOfAll } from './record-digest.js';

/** A central told what these clients used on other machines (`elsewhereUp`, `elsewhereDown` of their rows): nodes of this panel have to know it too. */
export const elsewhereChanged = event<{ readonly clientIds: readonly number[] }>(
  'node-agent/elsewhereChanged',
);
