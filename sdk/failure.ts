// Why a call failed: the panel said no, or nobody answered.
import type { ErrorCode } from './error-codes.js';

export interface Issue {
  /** the field at fault, dotted, as it was sent */
  readonly path: string;
  readonly message: string;
}

/** The body of a failed call; a proxy in front of the panel may send something else. */
export interface FailureBody {
  readonly msg?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly obj?: { readonly issues?: readonly Issue[]; readonly current?: unknown } | null;
}

/** The panel refused or failed; `code` is stable, the message is for people. */
export class PanelFailure extends Error {
  readonly status: number;
  /** Empty where a proxy answered instead of the panel. Codes of third-party plugins are not in the list. */
  readonly code: ErrorCode | (string & Record<never, never>);
  readonly issues: readonly Issue[];
  /** of a call with `ifVersion` that is refused: the record as it is now */
  readonly current: unknown;
  /** what else the reply has, such as `conflicts` of an undo */
  readonly obj: unknown;
  /** find this id in the panel's log */
  readonly requestId: string;
  /** how long the panel asked to wait (`Retry-After`), in ms */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    { msg = '', code = '', requestId = '', obj }: FailureBody,
    retryAfterMs?: number,
  ) {
    super(msg || `the panel answered ${status}`);
    this.name = 'PanelFailure';
    this.status = status;
    this.code = code;
    this.issues = obj?.issues ?? [];
    this.current = obj?.current;
    this.obj = obj;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** There was no complete reply: no connection, a broken one, or none in time. */
export class PanelUnreachable extends Error {
  readonly reason: 'network' | 'timeout';
  /** true for a call that changes something: the panel may have done it. With the same `idempotencyKey` you can send it again. */
  readonly mayBeDone: boolean;

  constructor(reason: 'network' | 'timeout', message: string, mayBeDone: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'PanelUnreachable';
    this.reason = reason;
    this.mayBeDone = mayBeDone;
  }
}
