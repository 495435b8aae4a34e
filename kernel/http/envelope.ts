// The one place that turns a result or an error into a reply: {success, msg, obj}, and on failure code and requestId too.
import { kernelErrors, PanelError } from '../errors/errors.js';

export interface Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { success: false; msg: string; obj: unknown; code: string; requestId: string };
}

export const success = (msg: string, obj: unknown) => ({ success: true, msg, obj: obj === undefined ? null : obj });

/** What Express' body parsers throw, as far as the caller is to blame. */
function fromBodyParser(error: unknown): PanelError | undefined {
  if (!(error instanceof Error) || !('type' in error)) return undefined;
  const { type } = error as { type: unknown };
  switch (type) {
    case 'entity.parse.failed':
      return kernelErrors.BAD_BODY(`the body is not valid JSON: ${error.message}`);
    case 'entity.too.large':
      return kernelErrors.TOO_LARGE();
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return kernelErrors.UNSUPPORTED_BODY(error.message);
    case 'request.aborted':
    case 'request.size.invalid':
    case 'parameters.too.many':
    case 'querystring.parse.rangeError':
      return kernelErrors.BAD_BODY(`the body could not be read: ${error.message}`);
    default:
      return undefined;
  }
}

/** Known errors speak for themselves; anything else is a bug of ours and says only where to look. */
export function failure(error: unknown, requestId: string): Failure & { readonly expected: boolean } {
  const parameter = error instanceof URIError ? kernelErrors.INVALID('the path has a malformed percent escape') : undefined;
  const known = error instanceof PanelError ? error : (fromBodyParser(error) ?? parameter);
  const { status, code, message: msg, issues, headers } = known ?? kernelErrors.INTERNAL();
  return { expected: known !== undefined && status < 500, status, headers, body: { success: false, msg, obj: issues.length ? { issues } : null, code, requestId } };
}
