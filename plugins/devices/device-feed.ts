// What changed among the devices since a position, for plugins that tell other machines. Nothing is kept before the first of
// them asks, and of very many changes the newest.
import type { DeviceDescription } from './contract.js';

const MOST_ENTRIES = 5_000;

/** A fetch by a device that is new or was not seen for an hour, or a device that an admin removed. */
export interface DeviceChange extends DeviceDescription {
  readonly clientId: number;
  /** SHA-256 of its id, in hex */
  readonly hash: string;
  readonly isGone: boolean;
  /** Unix ms */
  readonly at: number;
  /** who told it; blank: it happened here */
  readonly source: string;
}
export interface DeviceChanges {
  /** the next `after` */
  readonly seq: number;
  readonly devices: readonly DeviceChange[];
  /** there is more after `seq` */
  readonly more: boolean;
}
export const NO_DESCRIPTION: DeviceDescription = {
  userAgent: '',
  deviceOs: '',
  osVersion: '',
  deviceModel: '',
};

export class DeviceFeed {
  #seq = 0;
  #isFollowed = false;
  /** the latest change of each device, by seq */
  readonly #entries = new Map<string, { readonly seq: number; readonly change: DeviceChange }>();

  /** `change` is called only where somebody asks. */
  noted(change: () => DeviceChange): void {
    if (!this.#isFollowed) return;
    const changed = change();
    const key = `${changed.clientId} ${changed.hash}`;
    this.#entries.delete(key);
    this.#entries.set(key, { seq: ++this.#seq, change: changed });
    if (this.#entries.size > MOST_ENTRIES) this.#entries.delete(this.#entries.keys().next().value as string);
  }

  /** A position beyond the last one is of another process, and is the beginning. */
  changes(after: number, most: number): DeviceChanges {
    this.#isFollowed = true;
    if (after === this.#seq) return { seq: after, devices: [], more: false };
    const from = after > this.#seq ? 0 : after;
    const found = [...this.#entries.values()].filter(({ seq }) => seq > from);
    const page = found.slice(0, most);
    const more = page.length < found.length;
    return {
      seq: more ? (page.at(-1)?.seq ?? from) : this.#seq,
      devices: page.map(({ change }) => change),
      more,
    };
  }
}
