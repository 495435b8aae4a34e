// Lets other plugins declare events to be notified of, add channels, and add languages.
import { type During, type Event, extensionPoint, type Plugin } from '../../kernel/index.js';
import { argumentsOf, textsProblem } from './texts/template-check.js';

/** `critical`: never dropped for another, and an admin must act. */
export type Severity = 'info' | 'warning' | 'critical';
export const SEVERITIES = ['info', 'warning', 'critical'] as const;

/** A notification, ready to be sent. */
export interface Notification {
  /** the same for every attempt to deliver it over a channel */
  readonly id: string;
  /** name of a `NotifiedEvent`, or `test` */
  readonly event: string;
  readonly severity: Severity;
  /** Unix ms */
  readonly at: number;
  /** the kind of event in a few words, in the language of the channel: for subjects and headings; plain text */
  readonly title: string;
  /** one sentence in the language of the channel, at most 2,000 characters on one line; plain text: the channel escapes it for its own mark-up */
  readonly text: string;
  /** the same information for programs; of a summary `{ count, from, to, samples }` */
  readonly data: Readonly<Record<string, unknown>>;
  /** stands for many of the same event that came at once */
  readonly isSummary?: true;
}

/** A client that is notified itself. */
export interface ClientRecipient {
  readonly id: number;
  readonly email: string;
  /** its id at a messenger, from the field `tgId` */
  readonly messengerId: number;
}

/** Members that an error of `send` may have. */
export interface DeliveryFailure {
  /** when the receiver wants the next attempt, over the whole channel */
  readonly retryAfterMs?: number;
  /** no attempt will do better: a bad token, an unknown chat */
  readonly isPermanent?: boolean;
}

/** A channel: a chat, a mail server, an address that accepts JSON. */
export interface Channel {
  readonly name: string;
  /** How long an attempt may take: 10,000 ms without it, 60,000 at most. */
  readonly attemptLimitMs?: number;
  /** Whether the channel is set up; nothing is queued for a disabled one. */
  isOn(): boolean;
  /** Language of the texts, a BCP 47 tag such as `en`, `fa`, `ru`, `zh`; English without it. */
  language?(): string;
  /** Names of the events that this channel wants, or their aliases (`login.attempt`), or `default`; without it those of the setting `notificationEvents`. */
  events?(): readonly string[];
  /** Rejects when delivery fails; it is then retried for a day, see `DeliveryFailure`. The signal aborts an attempt that takes too long, and every attempt when the panel stops. */
  send(notification: Notification, signal: AbortSignal): Promise<void>;
  /** Sends to a client who has a messenger id; a channel without it reaches admins only. Rejects as `send` does. */
  sendToClient?(notification: Notification, client: ClientRecipient, signal: AbortSignal): Promise<void>;
}
type Problem = string | undefined;
const ownName = (
  word: string,
  name: string,
  { outside, name: plugin }: Pick<Plugin, 'name' | 'outside'>,
): Problem =>
  outside && name !== plugin && !name.startsWith(`${plugin}.`)
    ? `the ${word} ${name} must be called ${plugin} or ${plugin}.…, because names of a third-party plugin begin with its own`
    : undefined;

/** The notification channels. */
export const Channels = extensionPoint<Channel>('notifications', 'Channels', (channel, plugin, others) => {
  const { name } = channel;
  if (typeof name !== 'string' || name === '' || name.length > 64)
    return 'a channel needs a name of at most 64 characters';
  if (typeof channel.isOn !== 'function' || typeof channel.send !== 'function')
    return `the channel ${name} needs the functions isOn and send`;
  for (const part of ['language', 'events', 'sendToClient'] as const)
    if (channel[part] !== undefined && typeof channel[part] !== 'function')
      return `${part} of the channel ${name} must be a function`;
  const other = others.find(({ value }) => value.name === name);
  return (
    ownName('channel', name, plugin) ??
    (other && `the channel ${name} already exists, in plugin ${other.plugin}; choose another name`)
  );
});

/** A message in several languages, each an ICU message: `{count, plural, one {# client} other {# clients}}`. A language that is missing is English. */
export interface Texts {
  readonly en: string;
  readonly fa?: string;
  readonly ru?: string;
  readonly zh?: string;
}
/** A value in a message. Texts are shortened to 200 characters and cleaned of what could disturb the sentence. */
export type TextValue = string | number | boolean | Date;
/** Values by name. A list is formatted item by item with `items` of the event and joined as the language does; five are named, the rest is counted. */
export type TextArguments = Readonly<
  Record<string, TextValue | readonly Readonly<Record<string, TextValue>>[]>
>;

/** Something that happened, as its owner describes it. */
export interface Occurrence {
  readonly args: TextArguments;
  /** for programs; must be JSON */
  readonly data: Readonly<Record<string, unknown>>;
  /** where it differs from that of the event */
  readonly severity?: Severity;
  /** Of occurrences with the same key, one is sent in fifteen minutes. */
  readonly quietKey?: string;
  /** Client that gets it, over channels that reach clients, instead of the admins. */
  readonly client?: ClientRecipient;
}

/** An event that can be notified of. */
export interface NotifiedEvent<P> {
  /** camelCase, and the name of the plugin before it for a third-party one: `acme.batteryLow` */
  readonly name: string;
  readonly severity: Severity;
  /** whether the word `default` in a list of events means it too */
  readonly isOnByDefault: boolean;
  /** An event; or a hook inside a write: then the notification is stored with the write, and survives a crash right after it. */
  readonly hook: Event<P> | During<P>;
  /** Returns what to send; an empty list for nothing. Synchronous and quick. Not called for an event while nobody wants it. */
  describe(payload: P): readonly Occurrence[];
  /** the kind of event in a few words */
  readonly titles: Texts;
  /** the sentence; each language has the same arguments */
  readonly texts: Texts;
  /** how an item of a list among the arguments is written, by the argument's name */
  readonly items?: Readonly<Record<string, Texts>>;
  /** other names in lists of events: those of older panels */
  readonly aliases?: readonly string[];
  /** Name of a wider event: a channel that wants that one does not get this one too. */
  readonly partOf?: string;
}

const EVENT_NAME = /^[a-z][a-zA-Z0-9]*(?:[.-][a-zA-Z0-9]+)*$/;
/** The events that can be notified of. A plugin declares its own, in its `notified.ts`. */
export const NotifiedEvents = extensionPoint<NotifiedEvent<never>>(
  'notifications',
  'NotifiedEvents',
  (event, plugin, others) => {
    const { name, severity, isOnByDefault, hook, describe } = event;
    if (
      typeof name !== 'string' ||
      name.length > 64 ||
      !EVENT_NAME.test(name) ||
      name === 'test' ||
      name === 'default'
    )
      return 'the name of an event is at most 64 letters and digits with dots and hyphens between, and not test or default';
    if (!SEVERITIES.includes(severity))
      return `severity of the event ${name} must be one of ${SEVERITIES.join(', ')}`;
    if (typeof isOnByDefault !== 'boolean') return `isOnByDefault of the event ${name} must be true or false`;
    if ((hook?.kind !== 'event' && hook?.kind !== 'during') || typeof describe !== 'function')
      return `the event ${name} needs a hook that is an event or inside a write (during), and a function describe`;
    const other = others.find(({ value }) => value.name === name);
    if (other) return `the event ${name} already exists, in plugin ${other.plugin}; choose another name`;
    // Built-in texts are checked by a test instead: parsing all of them costs each start.
    return ownName('event', name, plugin) ?? (plugin.outside ? eventTextsProblem(event) : undefined);
  },
);
/** Returns what is wrong with the texts of an event. */
export function eventTextsProblem({ name, titles, texts, items = {} }: NotifiedEvent<never>): Problem {
  const parts: [string, Texts][] = [
    ['titles', titles],
    ['texts', texts],
    ...Object.entries(items).map(([item, its]): [string, Texts] => [`items.${item}`, its]),
  ];
  for (const [part, its] of parts) {
    const problem = textsProblem(its);
    if (problem !== undefined) return `${part} of the event ${name}: ${problem}`;
  }
  return undefined;
}
/** An entry for `NotifiedEvents`, with the type of its payload checked. */
export const notified = <P>(event: NotifiedEvent<P>): NotifiedEvent<never> => event as NotifiedEvent<never>;

/** Messages of one event, or of the panel itself, in one language. */
export interface TranslatedTexts {
  readonly title?: string;
  readonly text?: string;
  readonly items?: Readonly<Record<string, string>>;
}
/** All messages in one more language. */
export interface Translation {
  /** BCP 47 tag, such as `de` or `pt-BR` */
  readonly language: string;
  /** by name of the event, and for `test`, `summary`, `more` and `missed` the panel's own; what is missing is English */
  readonly events: Readonly<Record<string, TranslatedTexts>>;
}
/** More languages. A message with arguments that the event does not have is left out when it is used. */
export const Translations = extensionPoint<Translation>(
  'notifications',
  'Translations',
  ({ language, events }, _, others) => {
    if (typeof language !== 'string' || !isLanguage(language))
      return 'language must be a tag such as de or pt-BR';
    const other = others.find(({ value }) => value.language.toLowerCase() === language.toLowerCase());
    if (other) return `the language ${language} already exists, in plugin ${other.plugin}`;
    if (typeof events !== 'object' || events === null)
      return `the language ${language} needs its texts in events`;
    for (const [event, { title, text, items = {} }] of Object.entries(events))
      for (const message of [title, text, ...Object.values(items)])
        if (message !== undefined && typeof argumentsOf(message) === 'string')
          return `the text of ${event} in ${language} is not a valid message: ${String(argumentsOf(message))}`;
    return undefined;
  },
);
function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
