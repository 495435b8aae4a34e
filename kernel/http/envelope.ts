// The one place that turns a result or an error into a reply: {success, msg, obj}, and on failure code and requestId too.
import { kernelErrors, PanelError } from '../errors/errors.js';

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

/** What Express' body parsers throw, in our words. Their status is below 500 where the caller is to blame (a body that is not what its headers say, among others). */
export function bodyError(error: Error & { readonly type?: unknown; readonly status?: unknown }): Error {
  if (error instanceof PanelError) return kernelErrors.BAD_BODY(error.message);
  if (error.type === 'entity.parse.failed')
    return kernelErrors.BAD_BODY(`the body is not valid JSON: ${error.message}`);
  if (error.status === 413 && error.type === 'entity.too.large') return kernelErrors.TOO_LARGE();
  if (error.status === 415) return kernelErrors.UNSUPPORTED_BODY(error.message);
  if (typeof error.status === 'number' && error.status < 500)
    return kernelErrors.BAD_BODY(`the body could not be read: ${error.message}`);
  return error;
}

/** Known errors speak for themselves; anything else is a bug of ours and says only where to look. */
export function failure(error: unknown, requestId: string): Failure & { readonly expected: boolean } {
  const known = error instanceof PanelError ? error : undefined;
  const { status, code, message: msg, issues, headers } = known ?? kernelErrors.INTERNAL();
  return {
    expected: known !== undefined && status < 500,
    status,
    headers,
    body: { success: false, msg, obj: issues.length ? { issues } : null, code, requestId },
  };
}
