// How a route replies, as data: an envelope, a value, a text, a stream, the files of a folder.
import type Joi from 'joi';
import type { Lengthy } from '../../net/long-list.js';
import type { StaticFolder } from '../../net/static-folder.js';
import type { Streamed } from '../../net/streamed-reply.js';
import type { Static } from '../../schema/shape.js';

/** The success statuses, for descriptions; only 200 by default. `reply.status` sets another one. */
type Success = { readonly statuses?: readonly number[] };
/** How to send the value that a handler returns. */
export type ReplyKind =
  | ({ readonly kind: 'payload'; readonly schema: Joi.Schema; readonly unwrappedAs?: string } & Success)
  | ({ readonly kind: 'message' } & Success)
  | { readonly kind: 'bare'; readonly schema: Joi.Schema }
  | { readonly kind: 'raw'; readonly mediaType: string }
  | { readonly kind: 'stream'; readonly mediaType: string; readonly headers?: Joi.Schema }
  | { readonly kind: 'folder'; readonly folder: Pick<StaticFolder, 'send'> };

/** The value goes into `obj` of the envelope. A handler that returns `unwrapped(value)` sends the bare value, under this media type. */
export const payload = <S extends Joi.Schema>(
  schema: S,
  options: { readonly unwrappedAs?: string } & Success = {},
) => ({ kind: 'payload', schema, ...options }) as const;
/** The handler returns a sentence for `msg` (or nothing); `obj` is null. */
export const message = (options: Success = {}) => ({ kind: 'message', ...options }) as const;
/** The value is the whole body. */
export const bare = <S extends Joi.Schema>(schema: S) => ({ kind: 'bare', schema }) as const;
/** The handler returns the text of the body and sets the headers itself; the media type is for descriptions. */
export const raw = (mediaType = '*/*') => ({ kind: 'raw', mediaType }) as const;

/**
 * The handler returns `{ body }`, a stream that is sent as it comes, and says how to store it: `fileName`, `etag` and others
 * (see Streamed). `headers` describes headers of its own: `stream('text/csv', { headers: shape({ 'x-rows': int() }) })`.
 */
export const stream = <H extends Joi.Schema = never>(
  mediaType: string,
  options: { readonly headers?: H } = {},
) => ({ kind: 'stream', mediaType, ...options }) as const;

/** A value with its form of reply; without a `msg` it is sent without an envelope. */
export class Answer<T> {
  readonly obj: T;
  readonly msg: string | undefined;
  /** false: `obj` is in the form of an older program, not in the declared one */
  readonly isDeclared: boolean;
  constructor(obj: T, msg?: string, isDeclared = true) {
    this.obj = obj;
    this.msg = msg;
    this.isDeclared = isDeclared;
  }
}
/** An `obj` together with a `msg`, for payload routes that also have a message. */
export const withMessage = <T>(msg: string, obj: T): Answer<T> => new Answer(obj, msg);
/** An `obj` without its envelope, for callers that asked for that. */
export const unwrapped = <T>(obj: T): Answer<T> => new Answer(obj);

// biome-ignore lint/suspicious/noConfusingVoidType: a handler with nothing to say has no return
type Sentence = string | void;
/** The return type of a handler for a reply of this kind. */
export type Returned<R> = R extends { kind: 'payload'; schema: infer S }
  ? Lengthy<Static<S>> | Answer<Lengthy<Static<S>>>
  : R extends { kind: 'bare'; schema: infer S }
    ? Lengthy<Static<S>>
    : R extends { kind: 'message' }
      ? Sentence
      : R extends { kind: 'stream'; headers?: infer H }
        ? Streamed<Static<H>>
        : string;
