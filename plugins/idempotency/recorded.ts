// A stored reply: what the handler returned, with status and headers.
import { Answer, type RequestInfo, withMessage, unwrapped } from '../../kernel/index.js';

export interface Recorded {
  readonly status: number | undefined;
  readonly headers: readonly (readonly [string, string])[];
  readonly obj: unknown;
  /** missing if the reply has no envelope */
  readonly msg: string | undefined;
}

/** Records the reply of a handler. Cookies are not recorded: replaying one would give away a session. */
export class Recorder {
  #status: number | undefined;
  readonly #headers: [string, string][] = [];

  /** The input for the handler with what is `added`, otherwise unchanged, with its getters. */
  record<I extends RequestInfo>(input: I, added: Pick<RequestInfo, 'note' | 'noted'>): I {
    const { reply } = input;
    const noting: RequestInfo['reply'] = {
      ...reply,
      status: (code) => {
        this.#status = code;
        reply.status(code);
      },
      header: (name, value) => {
        this.#headers.push([name, value]);
        reply.header(name, value);
      },
    };
    const own: Partial<RequestInfo> = { ...added, reply: noting };
    return new Proxy(input, {
      get: (target, key) => Reflect.get(key in own ? own : target, key, key in own ? own : target) as unknown,
    });
  }

  /** Returns the reply as JSON; undefined if JSON cannot represent it. */
  textOf(result: unknown): string | undefined {
    const { obj, msg } = result instanceof Answer ? result : { obj: result, msg: '' };
    if (
      Buffer.isBuffer(obj) ||
      typeof obj === 'function' ||
      typeof (obj as { pipe?: unknown } | null)?.pipe === 'function'
    )
      return undefined;
    return JSON.stringify({ status: this.#status, headers: this.#headers, obj, msg } satisfies Recorded);
  }
}

/** Sends a stored reply again. */
export function replay(text: string, reply: RequestInfo['reply']): Answer<unknown> {
  const { status, headers, obj, msg } = JSON.parse(text) as Recorded;
  if (status !== undefined) reply.status(status);
  for (const [name, value] of headers) reply.header(name, value);
  reply.header('Idempotency-Replayed', 'true');
  return msg === undefined ? unwrapped(obj) : withMessage(msg, obj);
}
