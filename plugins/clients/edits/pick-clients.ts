// Finds clients by emails that callers send.
import { errors } from '../errors.js';
import { emailKey } from '../model/fields.js';
import type { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import type { SkippedClient } from './client-service.js';

export const skip = (
  email: string,
  error: { readonly code: string; readonly text: string },
  reason: string = error.text,
): SkippedClient => ({
  email,
  reason,
  code: error.code,
});

/** Emails without blanks and duplicates, in their order. */
function dedupeEmails(emails: readonly string[]): string[] {
  const seen = new Map<string, string>();
  for (const email of emails.map((sent) => sent.trim()).filter(Boolean))
    if (!seen.has(emailKey(email))) seen.set(emailKey(email), email);
  return [...seen.values()];
}

/** Returns the clients with these emails, each once, and the emails that no client has. */
export function pickClients(
  roster: Roster,
  emails: readonly string[],
): { rows: ClientRow[]; skipped: SkippedClient[] } {
  const rows: ClientRow[] = [];
  const skipped: SkippedClient[] = [];
  for (const email of dedupeEmails(emails)) {
    const row = roster.byEmail(email);
    if (row) rows.push(row);
    else skipped.push(skip(email, errors.NOT_FOUND));
  }
  return { rows, skipped };
}
