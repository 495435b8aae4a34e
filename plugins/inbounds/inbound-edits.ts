// Edits of inbounds by other plugins.
import type { Principal, Tx } from '../../kernel/index.js';
import type { Applied, JsonObject } from '../engine/contract.js';
import type { AddInbound, Inbound, UpdateInbound } from './schema.js';

/** Whether an import by this principal may keep local destinations: programs with a token may not set them. */
export const mayKeepDestinations = ({ kind }: Principal): boolean => kind === 'session' || kind === 'command';

export interface AddOptions {
  /** Written in the same transaction, after the inbound. */
  readonly also?: (tx: Tx, inbound: Inbound) => Promise<void>;
  /** Called last in the transaction. */
  readonly committing?: ((added: Added) => void) | undefined;
  /** takes the names of keys that nothing reads */
  readonly ignored?: Set<string>;
  /** For an import by an admin: the inbound keeps local and private destinations that `WEIR_FALLBACK_DESTINATIONS` does not name. */
  readonly keepDestinations?: boolean;
  /** guid of the panel below the node of `nodeId` that runs it; without it the node itself does */
  readonly originGuid?: string;
  /** What another panel has counted for it: bytes, and Unix ms. A limit that it has reached holds at once. */
  readonly counted?: { readonly up: number; readonly down: number; readonly lastTrafficResetTime: number };
}
export interface Added {
  readonly id: number;
  readonly applied: Applied;
  /** destinations kept for that reason, as `WEIR_FALLBACK_DESTINATIONS` would name them */
  readonly kept: readonly string[];
  /** what happened to clients in its `settings`; empty if there were none */
  readonly note: string;
}
/** The edits of the API, with the same checks. Do not call it inside a write. `who` is the principal who asked the calling plugin, or its `self`. */
export interface InboundEditsApi {
  add(inbound: AddInbound, who: Principal, options?: AddOptions): Promise<Added>;
  /** Does all checks of `add` and saves nothing. Rejects as `add` does. */
  check(inbound: AddInbound, who: Principal, options?: Pick<AddOptions, 'keepDestinations'>): Promise<void>;
  /** Changes the fields that are there. */
  update(id: number, fields: UpdateInbound, who: Principal): Promise<Applied>;
  /** Clients of the inbound stay, without it. */
  delete(id: number, who: Principal): Promise<Applied>;
  /** Has the core test the inbound as it would be with these settings of its config. Rejects with INBOUNDS_CORE_REFUSED. */
  test(inbound: Inbound, change: (settings: JsonObject) => JsonObject): Promise<void>;
}
