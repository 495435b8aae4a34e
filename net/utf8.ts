// Percent escapes that are not UTF-8 would be read as U+FFFD, so the panel would store something else than was sent.

/** In forms, a lone percent sign stands for itself. */
const LONE_PERCENT = /%(?![0-9a-f]{2})/gi;

/** Whether the percent escapes of a form (application/x-www-form-urlencoded) are valid UTF-8. */
export function hasUtf8Escapes(form: string): boolean {
  try {
    decodeURIComponent(form.replaceAll(LONE_PERCENT, '%25'));
    return true;
  } catch {
    return false;
  }
}
