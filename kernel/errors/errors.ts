// The one family of errors that may reach a caller of the API. Everything else is a bug and answers 500 without its text.
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { types } from 'node:util';
import type { Issue } from '../../schema/inspect.js';

export interface ErrorDetails {
  /** the field at fault; becomes an entry of `obj.issues` */
  readonly path?: string;
  readonly issues?: readonly Issue[];
  readonly cause?: unknown;
  /** reply headers, e.g. Retry-After */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error meant for the caller: a stable code, an HTTP status and a sentence for a person. */
export class PanelError extends Error {
  readonly code: string;
  readonly status: number;
  readonly issues: readonly Issue[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: string, status: number, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    // Said here, where the stack shows whose mistake it is: nobody could be answered with such an error.
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError(`the status of an error is a number from 400 to 599, not ${String(status)}`);
    for (const [name, value] of Object.entries(details.headers ?? {})) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    this.name = 'PanelError';
    this.code = code;
    this.status = status;
    this.issues = details.issues ?? (details.path === undefined ? [] : [{ path: details.path, message }]);
    this.headers = details.headers ?? {};
  }
}

/** Takes anything thrown: a proxy may throw when it is asked what it is, so it is not asked. */
export const isPanelError = (error: unknown): error is PanelError =>
  types.isNativeError(error) && error instanceof PanelError;

/** Thrown in a guard, this is a veto: the operation ends with 422 and nothing is written. */
export class Refusal extends PanelError {
  constructor(message: string, details: ErrorDetails & { code?: string; status?: number } = {}) {
    super(details.code ?? 'REFUSED', details.status ?? 422, message, details);
    this.name = 'Refusal';
  }
}

/** Makes one error of a catalogue; `message` replaces the catalogue's own sentence. */
export interface ErrorFactory {
  (message?: string, details?: ErrorDetails): PanelError;
  readonly code: string;
  readonly status: number;
  readonly text: string;
}

type Catalogue = Readonly<Record<string, readonly [status: number, text: string]>>;

/** Declares the errors of one plugin as data: `defineErrors('clients', { EMAIL_TAKEN: [409, 'email already in use'] })`. Codes get the owner as prefix. */
export function defineErrors<const C extends Catalogue>(
  owner: string,
  catalogue: C,
): { readonly [K in keyof C]: ErrorFactory } {
  const prefix = owner.toUpperCase().replaceAll('-', '_');
  const entries = Object.entries(catalogue).map(([name, [status, text]]) => {
    const code = `${prefix}_${name}`;
    const make = (message?: string, details?: ErrorDetails) =>
      new PanelError(code, status, message ?? text, details);
    return [name, Object.assign(make, { code, status, text })];
  });
  return Object.fromEntries(entries) as { readonly [K in keyof C]: ErrorFactory };
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
  INTERNAL: [500, 'something went wrong here; the log names it under this request id'],
  PLUGIN_OFF: [503, 'the plugin behind this is not running'],
  PLUGIN_FAILED: [503, 'nothing was saved: a plugin failed that takes part in this change'],
  TIMEOUT: [503, 'the request took too long and was given up'],
  STORAGE: [507, 'the panel cannot write to its disk; make room on it, or check it, and try again'],
});

/** Text of anything thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'something was thrown that cannot be written as text';
  }
}

/** of the operating system, SQLite, and MySQL or MariaDB: full, over quota, read-only, broken */
const STORAGE_CODES =
  /^(?:ENOSPC|EDQUOT|EROFS|EIO|SQLITE_(?:FULL|READONLY|IOERR)|ER_DISK_FULL|ER_RECORD_FILE_FULL)$/;

/** Whether this is the disk's failure, and so nobody's mistake. */
export function isStorageFailure(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  try {
    const { code, cause, parent } = error as NodeJS.ErrnoException & { readonly parent?: unknown };
    // Sequelize calls the cause `parent`.
    return STORAGE_CODES.test(code ?? '') || isStorageFailure(cause ?? parent);
  } catch {
    // A getter that throws, or an error that is its own cause.
    return false;
  }
}
