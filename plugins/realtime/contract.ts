// Live messages: how other plugins add theirs to the stream.
import { extensionPoint } from '../../kernel/index.js';
import type { LogPlace } from './log-place.js';

export { type LogPlace, PLACE_FORM, placeIn, textOfPlace } from './log-place.js';

export interface LiveOutput {
  /** Sends a message of the type to all readers. A function is called for the payload only if there are readers. */
  send(payload: unknown): void;
  /** Tells all readers that their copy of a resource (`hosts`, `nodes`, …) is out of date; calls within a moment become one message. */
  invalidate(resource: string): void;
}

/** A message type: its name, its part of the snapshot, and its sender. */
export interface LiveType {
  /** the `type` of its messages */
  readonly type: string;
  /** the part for a reader that has just connected, as `payload.<type>` of the message `snapshot` */
  readonly snapshot?: () => unknown;
  /** Each message counts, and none may be replaced. Without it, a reader that is slow gets the newest message only. */
  readonly isEvent?: true;
  /** called once, at the start */
  readonly start?: (out: LiveOutput) => void;
}
/** Types of this plugin, and names that socket.io reserves. */
const TAKEN = [
  'snapshot',
  'status',
  'traffic',
  'client_stats',
  'notification',
  'engine_state',
  'invalidate',
  'error',
  'connect',
  'connect_error',
  'disconnect',
  'disconnecting',
  'newListener',
  'removeListener',
];
/** Further message types of the live stream. */
export const LiveTypes = extensionPoint<LiveType>('realtime', 'LiveTypes', ({ type }, _, others) => {
  if (typeof type !== 'string' || type === '') return 'the type of live messages must be a text';
  const owner = TAKEN.includes(type) ? 'realtime' : others.find(({ value }) => value.type === type)?.plugin;
  return (
    owner && `live messages of the type "${type}" exist already, in plugin ${owner}; choose another name`
  );
});

/** Lines that were written after a place. */
export interface LogPart {
  /** The newest ones, oldest first: values that JSON can write. One of more than 16,384 characters of JSON is left out. */
  readonly lines: readonly unknown[];
  /** lines before them, after the place, that are not among them; where nobody can count them, at least so many */
  readonly leftOut: number;
  /** the place after them */
  readonly end: LogPlace;
}
/** A log that readers watch. Nothing of it is called while nobody watches it, and it keeps nothing for them. */
export interface LiveLog {
  /** the `type` of its messages, and the name by which readers watch it */
  readonly type: string;
  /** Where it ends now; the same until a line is written. Undefined while there is no log. Called four times a second. */
  end(): LogPlace | undefined | Promise<LogPlace | undefined>;
  /** At most `most` lines after this place; undefined where it is none of this log any more. */
  since(place: LogPlace, most: number): LogPart | undefined | Promise<LogPart | undefined>;
}
/** Logs whose lines are sent to those who watch them. A reader needs the right to read what the plugin serves. */
export const LiveLogs = extensionPoint<LiveLog>('realtime', 'LiveLogs', ({ type, end, since }, _, others) => {
  if (typeof type !== 'string' || type === '') return 'the type of a live log must be a text';
  if (typeof end !== 'function' || typeof since !== 'function')
    return 'a live log needs the functions end and since';
  const owner = TAKEN.includes(type) ? 'realtime' : others.find(({ value }) => value.type === type)?.plugin;
  return (
    owner && `live messages of the type "${type}" exist already, in plugin ${owner}; choose another name`
  );
});

/** Bytes that outbounds moved. */
export interface OutboundBytes {
  readonly tag: string;
  readonly up: number;
  readonly down: number;
}
/** Counts outbounds for `traffics` of the message `traffic`. */
export interface OutboundSource {
  /** Returns what moved since the previous call. Called after each poll of clients, also while nobody reads. */
  take(): readonly OutboundBytes[];
}
/** Sources of the bytes of outbounds. */
export const OutboundSources = extensionPoint<OutboundSource>('realtime', 'OutboundSources', ({ take }) =>
  typeof take === 'function' ? undefined : 'it needs the function take',
);
