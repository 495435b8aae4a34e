// The inbounds that this machine runs: the one list for all that starts, opens, counts or closes something here.
import { token } from '../../../kernel/index.js';
import type { Inbound } from '../fields.js';
import { runsHere } from './places.js';

/** The inbounds of this machine, which the core and the programs beside it run. Those of nodes are not among them: use it for everything that runs, and `Inbounds` for what is shown and edited. */
export interface LocalInboundsApi {
  /** Returns undefined for an unknown inbound, and for one that another machine runs. */
  get(id: number): Inbound | undefined;
  /** Ordered by id. */
  list(): readonly Inbound[];
}
export const LocalInbounds = token<LocalInboundsApi>('inbounds', 'LocalInbounds');

/** Those of `all` that run here. */
export const localOf = (all: {
  get(id: number): Inbound | undefined;
  list(): readonly Inbound[];
}): LocalInboundsApi => ({
  get: (id) => {
    const inbound = all.get(id);
    return inbound && runsHere(inbound) ? inbound : undefined;
  },
  list: () => all.list().filter(runsHere),
});
