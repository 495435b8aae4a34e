// Failed calls of the Bot API, as one sentence without secrets and with what to do next.
import { messageOf } from '../../../kernel/index.js';
import { OutgoingError } from '../../outgoing/contract.js';

/**
 * `token`: the token is not valid (any more); `conflict`: another program fetches the updates; `rate`: too many calls;
 * `chat`: this chat cannot be written to; `rejected`: the call itself is wrong; `network`: no usable reply.
 */
export type FailureKind = 'token' | 'conflict' | 'rate' | 'chat' | 'rejected' | 'network';

const MOST_RETRY_S = 3_600;
const MOST_CHARACTERS = 200;

/** `isPermanent` and `retryAfterMs` are read by the queue of notifications. */
export class BotFailure extends Error {
  override readonly name = 'BotFailure';
  readonly kind: FailureKind;
  readonly isPermanent: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, sentence: string, retryAfterMs?: number) {
    super(sentence);
    this.kind = kind;
    this.isPermanent = kind === 'token' || kind === 'chat' || kind === 'rejected';
    this.retryAfterMs = retryAfterMs;
  }
}

/** A reply that is not one of the Bot API. */
export class JunkReply extends Error {
  override readonly name = 'JunkReply';
}

/** The reply to a call that failed, as the Bot API describes it. */
interface ErrorReply {
  readonly error_code?: unknown;
  readonly description?: unknown;
  readonly parameters?: { readonly retry_after?: unknown };
}

/** Control characters of a foreign text would reach logs and terminals. */
const printable = (text: unknown): string =>
  typeof text === 'string' ? text.replaceAll(/\p{C}+/gu, ' ').slice(0, MOST_CHARACTERS) : '';

const NO_CHAT =
  /chat not found|user not found|PEER_ID_INVALID|not enough rights|have no rights|CHAT_WRITE_FORBIDDEN/i;

function ofReply({ error_code: code, description, parameters }: ErrorReply): BotFailure {
  const words = printable(description);
  const said = words === '' ? `it answered with the code ${Number(code) || 0}` : `it answered: ${words}`;
  if (code === 401 || code === 404)
    return new BotFailure('token', `the Bot API does not accept the token (msgBotToken); ${said}`);
  if (code === 409) return new BotFailure('conflict', `another program uses this bot; ${said}`);
  if (code === 429) {
    const seconds = Number(parameters?.retry_after);
    const wait = Math.min(Math.max(Number.isFinite(seconds) ? seconds : 1, 1), MOST_RETRY_S);
    return new BotFailure('rate', `the Bot API allows no more calls for ${wait} s`, wait * 1_000);
  }
  if (code === 403 || (code === 400 && NO_CHAT.test(words)))
    return new BotFailure('chat', `the bot cannot write to this chat; ${said}`);
  if (typeof code === 'number' && code >= 400 && code < 500)
    return new BotFailure('rejected', `the Bot API rejected the call; ${said}`);
  return new BotFailure('network', `the Bot API fails; ${said}`);
}

function found<E extends Error>(error: unknown, type: new (...args: never[]) => E): E | undefined {
  // grammY keeps the cause of its HttpError in `error`.
  for (let one = error, depth = 0; one instanceof Error && depth < 6; depth++) {
    if (one instanceof type) return one;
    one = (one as { readonly error?: unknown }).error ?? one.cause;
  }
  return undefined;
}

export function failureOf(error: unknown): BotFailure {
  if (error instanceof BotFailure) return error;
  const outgoing = found(error, OutgoingError);
  if (outgoing?.code === 'busy')
    return new BotFailure('rate', `the bot makes too many calls: ${outgoing.message}`, 2_000);
  if (outgoing) return new BotFailure('network', outgoing.message);
  const junk = found(error, JunkReply);
  if (junk) return new BotFailure('network', junk.message);
  if (error instanceof Error && 'error_code' in error) return ofReply(error as ErrorReply);
  return new BotFailure('network', 'the call of the Bot API was cut off');
}

/** For work around the calls: what is not of the Bot API is of the panel, such as its database. */
export const failureAround = (error: unknown): BotFailure =>
  error instanceof BotFailure
    ? error
    : new BotFailure(
        'network',
        `the panel cannot take updates: ${messageOf(error).slice(0, MOST_CHARACTERS)}`,
      );
