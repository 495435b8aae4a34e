// Bytes that are not UTF-8 would be read as U+FFFD: something else would be stored than the caller sent.
import { isUtf8 } from 'node:buffer';
import { kernelErrors } from '../errors/errors.js';

/** A percent sign alone stands for itself in forms. */
const LONE_PERCENT = /%(?![0-9a-f]{2})/gi;

function areUtf8(escapes: string): boolean {
  try {
    decodeURIComponent(escapes.replaceAll(LONE_PERCENT, '%25'));
    return true;
  } catch {
    return false;
  }
}

/** Throws KERNEL_BAD_BODY. JSON is UTF-8 (RFC 8259, 8.1); so are forms, within their percent escapes too. */
export function requireUtf8(body: Buffer, kind: 'json' | 'form'): void {
  if (!isUtf8(body) || (kind === 'form' && !areUtf8(body.toString('latin1'))))
    throw kernelErrors.BAD_BODY('the body is not valid UTF-8');
}
