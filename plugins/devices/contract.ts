// Devices: the programs and machines that fetch a client's subscription.
import type { DeviceChange, DeviceChanges } from './device-feed.js';
import { event, type Principal, token } from '../../kernel/index.js';

export { errors as deviceErrors } from './errors.js';

/** What a device says about itself when it fetches; each text has at most 512 characters. */
export interface DeviceDescription {
  readonly userAgent: string;
  readonly deviceOs: string;
  readonly osVersion: string;
  readonly deviceModel: string;
}
/** A device of a client, in an event. */
export interface DeviceOfClient extends DeviceDescription {
  readonly clientId: number;
  readonly email: string;
  /** first 12 hex digits of the SHA-256 of its id; '' when it sent none */
  readonly fingerprint: string;
  /** Unix ms */
  readonly at: number;
}

/** A device as it is listed. */
export interface KnownDevice extends DeviceDescription {
  /** Unix ms */
  readonly firstSeen: number;
  readonly lastSeen: number;
}
export interface DevicesApi {
  /** The devices of a client, the one that was seen last first. */
  list(clientId: number): Promise<readonly KnownDevice[]>;
  /** Forgets all devices of a client, and returns how many there were; each takes a place again with its next fetch. */
  forget(client: { readonly id: number; readonly email: string }, who: Principal): Promise<number>;
  /** Fetches and removals after a position, at most `most`; 0 is the first question of this process. Of a known device, a fetch is told once an hour. What is not asked for costs nothing. */
  changes(after: number, most: number): DeviceChanges;
  /** Takes in what another machine told: its devices take places here too, within the limit. `source` says which one. */
  take(changes: readonly Omit<DeviceChange, 'source'>[], source: string): Promise<void>;
}
export type { DeviceChange, DeviceChanges } from './device-feed.js';
export const Devices = token<DevicesApi>('devices', 'Devices');

/** New devices were stored. Devices of an import are not reported. */
export const deviceAdded = event<{ readonly devices: readonly DeviceOfClient[] }>('devices/deviceAdded');
/** Devices were refused since the last batch, each once, at most 1,000 of them: because the client has as many devices as its limit, or because they sent no usable id while there is a limit. */
export const deviceRefused = event<{
  readonly devices: readonly (DeviceOfClient & {
    readonly reason: 'limit' | 'noId';
    readonly limit: number;
  })[];
}>('devices/deviceRefused');
