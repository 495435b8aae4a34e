// Percent escapes that are not UTF-8 would be read as U+FFFD: something else would be stored than the caller sent.
import { kernelErrors } from '../errors/errors.js';

/** A percent sign alone stands for itself in forms. */
const LONE_PERCENT = /%(?![0-9a-f]{2})/gi;

/** Throws KERNEL_BAD_BODY where the percent escapes of a form are not valid UTF-8. */
export function requireUtf8Escapes(form: string): void {
  try {
    decodeURIComponent(form.replaceAll(LONE_PERCENT, '%25'));
  } catch (cause) {
    throw kernelErrors.BAD_BODY('the body is not valid UTF-8', { cause });
  }
}
