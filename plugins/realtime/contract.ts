// Live messages: how other plugins add theirs to the stream.
import { extensionPoint } from '../../kernel/index.js';

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
  /** called once, at the start */
  readonly start?: (out: LiveOutput) => void;
}
/** Types of this plugin, and names that socket.io reserves. */
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
/** Further message types of the live stream. */
export const LiveTypes = extensionPoint<LiveType>('realtime', 'LiveTypes', ({ type }, _, others) => {
  if (typeof type !== 'string' || type === '') return 'the type of live messages must be a text';
  const owner = TAKEN.includes(type) ? 'realtime' : others.find(({ value }) => value.type === type)?.plugin;
  return (
    owner && `live messages of the type "${type}" exist already, in plugin ${owner}; choose another name`
  );
});
