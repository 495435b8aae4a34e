// Signed callbacks: other plugins add types of events.
import { type During, during, type Event, extensionPoint, type Principal } from '../../kernel/index.js';

/** One event, as its owner describes it. */
export interface CallbackEvent {
  /** one of `types` of its source */
  readonly type: string;
  /** what an admin calls the record: an email, a tag. A call with very many events is summarised by these names */
  readonly name?: string;
  /** JSON for programs elsewhere; no secrets. At most 60 KiB */
  readonly data: object;
}

/** Events of one hook. */
export interface CallbackSource<P> {
  /** a sentence for each type of event: `{ 'client.created': 'A client was added.' }` */
  readonly types: Readonly<Record<string, string>>;
  /** Called inside the write that makes the change (during): the events are stored with it, or neither is. Of an event hook they are stored afterwards, and a crash in between loses them. */
  readonly hook: During<P> | Event<P>;
  /** Synchronous, and not called while no endpoint wants one of the types; a bulk call has thousands of changes. A generator lets other work go on in between. */
  describe(payload: P): Iterable<CallbackEvent>;
}

const TYPE = /^[a-z][a-zA-Z0-9-]{0,31}(?:\.[a-z][a-zA-Z0-9-]{0,31}){1,2}$/;
/** What endpoints can be told. */
export const CallbackSources = extensionPoint<CallbackSource<never>>(
  'event-callbacks',
  'CallbackSources',
  ({ types, hook, describe }, { name: plugin, outside, hooks }, others) => {
    if (typeof types !== 'object' || types === null || Object.keys(types).length === 0)
      return 'types must have a sentence for each type of event';
    for (const [type, doc] of Object.entries(types)) {
      if (!TYPE.test(type) || typeof doc !== 'string')
        return `the type ${type} must be words with dots between, like client.created, and have a sentence`;
      if (outside && !type.startsWith(`${plugin}.`))
        return `the type ${type} must begin with ${plugin}., because names of a third-party plugin begin with its own`;
      const other = others.find(({ value }) => type in value.types);
      if (other) return `the type ${type} already exists, in plugin ${other.plugin}`;
    }
    if ((hook?.kind !== 'during' && hook?.kind !== 'event') || typeof describe !== 'function')
      return 'it needs a hook of the kind during or event, and a function describe';
    // A hook that nobody declares would be a fault of this plugin.
    return outside && hook.id.startsWith(`${plugin}/`) && !hooks.includes(hook)
      ? `the hook ${hook.id} must be one that its plugin declares in \`hooks\``
      : undefined;
  },
);
/** An entry for `CallbackSources`, with the type of its payload checked. */
export const callbackSource = <P>(source: CallbackSource<P>): CallbackSource<never> =>
  source as CallbackSource<never>;

/** What an admin sets of an endpoint. */
export interface EndpointFacts {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  readonly enable: boolean;
  readonly allowPrivate: boolean;
  /** which secret signs, without the secret: it changes with each rotation */
  readonly secretId: string;
}
export interface EndpointChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: EndpointFacts | undefined;
  readonly after: EndpointFacts | undefined;
}
/** Runs in the transaction that adds, changes or deletes an endpoint, also when the panel disables it. */
export const duringEndpointSave = during<{
  readonly changes: readonly EndpointChange[];
  readonly who: Principal;
}>('event-callbacks/duringEndpointSave');
