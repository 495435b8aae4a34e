// What the program around the panel, and other plugins, know of several panels on one database.
import { event, extensionPoint, guard, token } from '../../kernel/index.js';
import type { DatabaseClock } from './database-clock.js';

export { DatabaseClock } from './database-clock.js';
export { errors as clusterErrors } from './errors.js';
export { inTime } from './in-time.js';
export { isAway, isBusy, repeated, repeatedWrite } from './repeated.js';
export { Leaving, PanelLeaving } from './leaving.js';
export { isOlder, PANEL_VERSION } from './panel-version.js';

/** The clock of this process; provided by the program where the panel is one of several. */
export const SharedClock = token<DatabaseClock>('panel', 'SharedClock');

/** The oldest version whose panels may use the database together with this one, as its migrations say; provided by the program. */
export const OldestBeside = token<{ readonly version: string }>('panel', 'OldestBeside');

/** This panel among those that use its database. */
export interface PanelsApi {
  /** Whether it runs what only one panel may run, now; always without WEIR_CLUSTER. */
  readonly leads: boolean;
  /** how many panels live, this one included */
  readonly count: number;
  /** names of the other panels that live, at most a few seconds old */
  readonly others: readonly string[];
  /** value of WEIR_CLUSTER: stays over restarts, and no other panel has it; blank without it */
  readonly name: string;
  /** Whether this panel runs a core from its start to its end, whoever leads. */
  readonly hasOwnCore: boolean;
  /** Whether this panel stops only to start again at once, as its memory cannot follow the others: its own core goes on. */
  readonly startsAgain: boolean;
  /** From 1 to 1,023, and different for panels that run at the same time; 0 for a panel without WEIR_CLUSTER. */
  readonly number: number;
}
export const Panels = token<PanelsApi>('cluster', 'Panels');

/** A figure that only the leader has, as plain JSON of at most 8 MiB. Every two seconds the leader is asked for it and the other panels get it; what has not changed costs nothing. */
export interface SharedFigure<T = unknown> {
  readonly name: string;
  /** Called in the leader. */
  read(): T;
  /** Called in the others; undefined while nobody leads. */
  take(value: T | undefined): void;
}
/** Figures of the leader for the other panels to show. Those of third-party plugins that start late come with the next exchange. */
export const SharedFigures = extensionPoint<SharedFigure>(
  'cluster',
  'SharedFigures',
  ({ name, read, take }, _, others) => {
    if (typeof name !== 'string' || typeof read !== 'function' || typeof take !== 'function')
      return 'it needs a name and the functions read and take';
    const other = others.find(({ value }) => value.name === name);
    return other && `the figure ${name} already exists, in plugin ${other.plugin}`;
  },
);

/** What `after` hooks were called with in another panel, by the id of the hook. */
export interface OthersWrote {
  readonly told: readonly { readonly hook: string; readonly payload: unknown }[];
}
/** Other panels of this database have changed something, and memory has it: for what must follow beside memory, such as the core. */
export const othersWrote = event<OthersWrote>('cluster/othersWrote');

/** This panel leads, and is about to let another one lead while it goes on answering: what began in `afterKernelLead` ends here, and has ended when the tap resolves, `inTime`. Refusals are ignored. */
export const beforeLeadEnds = guard<{ readonly reason: string }>('cluster/beforeLeadEnds');
