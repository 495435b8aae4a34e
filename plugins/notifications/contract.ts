// Telling people what happens: how other plugins add a way to be told.
import { extensionPoint } from '../../kernel/index.js';

/** What happened, ready to be sent. */
export interface Notification {
  /** the same for every attempt to deliver it */
  readonly id: string;
  /** one of the names in the setting `notificationEvents`, or `test` */
  readonly event: string;
  /** Unix ms */
  readonly at: number;
  /** one sentence for people */
  readonly text: string;
  /** the same for programs */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A way to people: a chat, a mail server, an address that takes JSON. */
export interface Channel {
  readonly name: string;
  /** Whether it is set up; nothing is kept for one that is off. */
  isOn(): boolean;
  /** Rejects when it could not be delivered; it is tried again then, a few times. The signal ends an attempt that takes too long, and all of them when the panel stops. */
  send(notification: Notification, signal: AbortSignal): Promise<void>;
}
/** The ways to tell people what happens. */
export const Channels = extensionPoint<Channel>(
  'notifications',
  'Channels',
  ({ name: channel, isOn, send }, { name, outside }, others) => {
    if (typeof channel !== 'string' || channel === '') return 'a channel needs a name';
    if (typeof isOn !== 'function' || typeof send !== 'function')
      return `the channel ${channel} needs the functions isOn and send`;
    if (outside && channel !== name && !channel.startsWith(`${name}.`))
      return `the channel ${channel} must be called ${name} or ${name}.…, as a plugin from outside has no names but its own`;
    const other = others.find(({ value }) => value.name === channel);
    return other && `the channel ${channel} is there already, of plugin ${other.plugin}; choose another name`;
  },
);
