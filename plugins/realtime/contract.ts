// Live messages: how other plugins add theirs to the stream.
import { extensionPoint } from '../../kernel/index.js';

export interface LiveOutput {
  /** Sends a message of the type to all who listen. A function is called for the payload only if somebody does. */
  send(payload: unknown): void;
  /** Tells all that what they know of a resource (`hosts`, `nodes`, …) is old; told once however often it is said within a moment. */
  invalidate(resource: string): void;
}

/** A type of message, whole: its name, what it tells newcomers, and who sends it. */
export interface LiveType {
  /** the `type` of its messages */
  readonly type: string;
  /** what somebody who has just connected is told, as `payload.<type>` of the message `snapshot` */
  readonly snapshot?: () => unknown;
  /** called once, at the start */
  readonly start?: (out: LiveOutput) => void;
}
/** Ours, and those that socket.io keeps for itself. */
const TAKEN = [
  'snapshot',
  'status',
  'traffic',
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
/** Further types of message on the live stream. */
export const LiveTypes = extensionPoint<LiveType>('realtime', 'LiveTypes', ({ type }, _, others) => {
  if (typeof type !== 'string' || type === '') return 'the type of live messages must be a text';
  const owner = TAKEN.includes(type) ? 'realtime' : others.find(({ value }) => value.type === type)?.plugin;
  return (
    owner && `live messages of the type "${type}" are there already, of plugin ${owner}; choose another name`
  );
});
