// A notification as a mail: one sentence, as text and as HTML.
import type { Notification } from '../notifications/contract.js';
import type { Mailbox } from './settings.js';

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (plain: string): string => plain.replaceAll(/[&<>"']/g, (sign) => ESCAPED[sign] ?? sign);
/** Header lines end with a line break. */
const oneLine = (plain: string): string => plain.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();

const COLOURS = { info: '#2f6f44', warning: '#9a5b00', critical: '#a31515' } as const;
const LONGEST_SUBJECT = 200;

export interface LetterOptions {
  readonly from: Mailbox;
  readonly to: readonly string[];
  /** which panel writes */
  readonly host: string;
  readonly language: string;
}

/** Whether the language is written from right to left. */
const isRightToLeft = (language: string): boolean =>
  ['ar', 'fa', 'he', 'ur'].includes(language.split('-')[0]?.toLowerCase() ?? '');

/** Returns headers and content (RFC 5322, RFC 2047, RFC 2046). */
export async function letterOf(
  { id, event, severity, at, title, text }: Notification,
  { from, to, host, language }: LetterOptions,
): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const subject = oneLine(`${host} ${title}`).slice(0, LONGEST_SUBJECT);
  const time = new Date(at).toISOString();
  const html = `<!doctype html><html lang="${escaped(language)}" dir="${isRightToLeft(language) ? 'rtl' : 'ltr'}"><body style="font-family:sans-serif"><h3 style="color:${COLOURS[severity]}">${escaped(title)}</h3><p>${escaped(text)}</p><p style="color:#666;font-size:small">${escaped(host)} · ${escaped(event)} · ${time}</p></body></html>`;
  return new MailComposer({
    from: { name: from.name, address: from.address },
    to: [...to],
    subject,
    date: new Date(at),
    // The same for each attempt, so that a repeated mail is recognised.
    messageId: `<${id}@${from.address.split('@')[1] ?? 'localhost'}>`,
    headers: { 'auto-submitted': 'auto-generated' },
    text: `${text}\n\n${host} · ${event} · ${time}\n`,
    html,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
}
