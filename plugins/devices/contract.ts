// Devices: the programs and machines that fetch a client's subscription.
import { event } from '../../kernel/index.js';

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

/** New devices were stored. Devices of an import are not reported. */
export const deviceAdded = event<{ readonly devices: readonly DeviceOfClient[] }>('devices/deviceAdded');
/** Devices were refused since the last batch, each once, at most 1,000 of them: because the client has as many devices as its limit, or because they sent no usable id while there is a limit. */
export const deviceRefused = event<{
  readonly devices: readonly (DeviceOfClient & {
    readonly reason: 'limit' | 'noId';
    readonly limit: number;
  })[];
}>('devices/deviceRefused');
