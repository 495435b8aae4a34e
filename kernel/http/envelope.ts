// The only place that turns a result or an error into a reply: {success, msg, obj}, and on failure code and requestId too.
import { isPanelError, storageFailure, kernelErrors } from '../errors/errors.js';

export interface Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { success: false; msg: string; obj: unknown; code: string; requestId: string };
}

export const success = (msg: string, obj: unknown) => ({ success: true, msg, obj: obj ?? null });

/** Known errors carry their own message; anything else is a bug and only says where to look. */
export function failure(error: unknown, requestId: string): Failure & { readonly expected: boolean } {
  const storage = storageFailure(error);
  const failed = storage === 'disk' ? kernelErrors.STORAGE() : storage;
  const known = isPanelError(error) ? error : failed;
  const { status, code, message: msg, obj, headers } = known ?? kernelErrors.INTERNAL();
  return {
    // The log reports a failure of the database once.
    expected: (known !== undefined && status < 500) || isPanelError(storage),
    status,
    headers,
    body: { success: false, msg, obj, code, requestId },
  };
}
