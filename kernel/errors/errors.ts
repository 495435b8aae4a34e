// The only family of errors that callers of the API see. Everything else is a bug and answers 500 without its message.
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { types } from 'node:util';
import type Joi from 'joi';
import type { Issue } from '../../schema/inspect.js';

export interface ErrorDetails {
  /** the invalid field; becomes an entry of `obj.issues` */
  readonly path?: string;
  readonly issues?: readonly Issue[];
  readonly cause?: unknown;
  /** reply headers, e.g. Retry-After */
  readonly headers?: Readonly<Record<string, string>>;
  /** `obj` of the reply, in place of the issues; the catalogue says what it is */
  readonly obj?: object;
}

/** An error for the caller: a stable code, an HTTP status and a sentence for display. */
export class PanelError extends Error {
  readonly code: string;
  readonly status: number;
  readonly issues: readonly Issue[];
  readonly headers: Readonly<Record<string, string>>;
  readonly obj: object | null;

  constructor(code: string, status: number, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    // Thrown here, where the stack shows the mistake: such an error could not be sent.
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError(`the status of an error must be a number from 400 to 599, not ${String(status)}`);
    for (const [name, value] of Object.entries(details.headers ?? {})) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    this.name = 'PanelError';
    this.code = code;
    this.status = status;
    this.issues = details.issues ?? (details.path === undefined ? [] : [{ path: details.path, message }]);
    this.headers = details.headers ?? {};
    this.obj = details.obj ?? (this.issues.length > 0 ? { issues: this.issues } : null);
  }
}

/** Accepts anything thrown: inspecting a proxy may throw, so the check does not. */
export const isPanelError = (error: unknown): error is PanelError =>
  types.isNativeError(error) && error instanceof PanelError;

/** Throw it in a guard to veto the operation: it ends with 422 and nothing is written. */
export class Refusal extends PanelError {
  constructor(message: string, details: ErrorDetails & { code?: string; status?: number } = {}) {
    super(details.code ?? 'REFUSED', details.status ?? 422, message, details);
    this.name = 'Refusal';
  }
}

/** Creates one error of a catalogue; `message` replaces the catalogue's text. */
export interface ErrorFactory {
  (message?: string, details?: ErrorDetails): PanelError;
  readonly code: string;
  readonly status: number;
  readonly text: string;
  readonly obj: Joi.Schema | undefined;
}

type Catalogue = Readonly<Record<string, readonly [status: number, text: string, obj?: Joi.Schema]>>;
type Factories<Name extends PropertyKey> = Readonly<Record<Name, ErrorFactory>>;

/** Declares the errors of one plugin as data: `defineErrors('clients', { EMAIL_TAKEN: [409, 'email already in use'] })`. Codes get the owner as prefix. A third entry describes the `obj` of replies, where it is not the issues. */
export function defineErrors<const C extends Catalogue>(owner: string, catalogue: C): Factories<keyof C> {
  const prefix = owner.toUpperCase().replaceAll('-', '_');
  const entries = Object.entries(catalogue).map(([name, [status, text, obj]]) => {
    const code = `${prefix}_${name}`;
    const make = (message?: string, details?: ErrorDetails) =>
      new PanelError(code, status, message ?? text, details);
    return [name, Object.assign(make, { code, status, text, obj })];
  });
  return Object.fromEntries(entries) as Factories<keyof C>;
}

/** The kernel's own errors. */
export const kernelErrors = defineErrors('kernel', {
  INVALID: [400, 'the request does not fit its description'],
  BAD_REQUEST: [400, 'this is not a valid HTTP request'],
  BAD_BODY: [400, 'the body could not be read'],
  UNAUTHORIZED: [401, 'log in or send an API token first'],
  CSRF: [403, 'the X-CSRF-Token header is missing or not that of this session; GET csrf-token gives it'],
  ORIGIN: [403, 'this connection comes from a page of another site'],
  HOST: [421, 'the panel does not answer under this host'],
  NOT_FOUND: [404, 'there is nothing at this path'],
  SLOW_REQUEST: [408, 'the request did not arrive in time; send it again'],
  TOO_LARGE: [413, 'the body is larger than this endpoint takes'],
  UNSUPPORTED_BODY: [415, 'this endpoint takes JSON'],
  LONG_HEADERS: [431, 'URL and headers are larger than 16 KiB in all'],
  INTERNAL: [500, 'internal error; search the log for this request id'],
  PLUGIN_OFF: [503, 'the plugin that serves this is not running'],
  PLUGIN_FAILED: [503, 'nothing was saved: a plugin that takes part in this change failed'],
  TIMEOUT: [503, 'the request took too long and was cancelled'],
  DEGRADED: [503, 'the panel cannot do all of its work'],
  DATABASE_AWAY: [
    503,
    'the database does not answer, so nothing was saved; check that its server runs and can be reached, then try again',
  ],
  DATABASE_DAMAGED: [503, 'the database is damaged; check its disk, then restore a backup (weir restore)'],
  DATABASE_TAKEN: [
    503,
    'another panel uses the database, so nothing was saved; stop that one, then restart this one',
  ],
  DATABASE_BUSY: [503, 'others changed the same at the same moment, so nothing was saved; try again'],
  DATABASE_READ_ONLY: [
    503,
    'the database is read-only, so nothing was saved; make it writable, then try again',
  ],
  STORAGE: [
    507,
    'the panel cannot write to its disk, so nothing was saved; free space on it or check it, then try again',
  ],
});

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'an error that cannot be converted to text';
  }
}

/** codes of the operating system: full, over quota, read-only, broken; and that of a SQLite file beside the panel's own, such as a copy */
const DISK_CODES = /^(?:ENOSPC|EDQUOT|EROFS|EIO|SQLITE_FULL)$/;
/** what the kernel makes of failures of the database, and of the question whether it works */
const DATABASE_CODES = /^KERNEL_(?:STORAGE|DATABASE_\w+|DEGRADED)$/;

/** The failure of the database or the disk that caused this error, so that no plugin is at fault; undefined for other errors. The log has those of the database already. */
export function storageFailure(error: unknown): PanelError | 'disk' | undefined {
  if (!types.isNativeError(error)) return undefined;
  try {
    const { code, cause } = error as NodeJS.ErrnoException;
    if (DISK_CODES.test(code ?? '')) return 'disk';
    return isPanelError(error) && DATABASE_CODES.test(error.code) ? error : storageFailure(cause);
  } catch {
    // A getter threw, or the error is its own cause.
    return undefined;
  }
}
