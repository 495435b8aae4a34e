// Lets other plugins add notification channels.
import { extensionPoint } from '../../kernel/index.js';

/** A notification, ready to be sent. */
export interface Notification {
  /** the same for every attempt to deliver it */
  readonly id: string;
  /** one of the names in the setting `notificationEvents`, or `test` */
  readonly event: string;
  /** Unix ms */
  readonly at: number;
  /** one sentence for display */
  readonly text: string;
  /** the same information for programs */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A channel: a chat, a mail server, an address that accepts JSON. */
export interface Channel {
  readonly name: string;
  /** Whether the channel is set up; nothing is queued for a disabled one. */
  isOn(): boolean;
  /** Rejects when delivery fails; it is then retried a few times. The signal aborts an attempt that takes too long, and every attempt when the panel stops. */
  send(notification: Notification, signal: AbortSignal): Promise<void>;
}
/** The notification channels. */
export const Channels = extensionPoint<Channel>(
  'notifications',
  'Channels',
  ({ name: channel, isOn, send }, { name, outside }, others) => {
    if (typeof channel !== 'string' || channel === '') return 'a channel needs a name';
    if (typeof isOn !== 'function' || typeof send !== 'function')
      return `the channel ${channel} needs the functions isOn and send`;
    if (outside && channel !== name && !channel.startsWith(`${name}.`))
      return `the channel ${channel} must be called ${name} or ${name}.…, because names of a third-party plugin begin with its own`;
    const other = others.find(({ value }) => value.name === channel);
    return other && `the channel ${channel} already exists, in plugin ${other.plugin}; choose another name`;
  },
);
