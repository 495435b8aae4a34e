// The only place that turns a result or an error into a reply: {success, msg, obj}, and on failure code and requestId too.
import { isPanelError, isStorageFailure, kernelErrors } from '../errors/errors.js';

export interface Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { success: false; msg: string; obj: unknown; code: string; requestId: string };
}

export const success = (msg: string, obj: unknown) => ({
  success: true,
  msg,
  obj: obj === undefined ? null : obj,
});

/** Known errors carry their own message; anything else is a bug and only says where to look. */
export function failure(error: unknown, requestId: string): Failure & { readonly expected: boolean } {
  const known = isPanelError(error) ? error : undefined;
  const unknown = isStorageFailure(error) ? kernelErrors.STORAGE() : kernelErrors.INTERNAL();
  const { status, code, message: msg, issues, headers } = known ?? unknown;
  return {
    expected: known !== undefined && status < 500,
    status,
    headers,
    body: { success: false, msg, obj: issues.length ? { issues } : null, code, requestId },
  };
}
