import {
  bool,
  custom,
  describedAs,
  int,
  list,
  oneOf,
  setting,
  text,
  word,
  inSection,
} from '../../kernel/index.js';

/** As in RFC 5321, 4.5.3.1. */
const LONGEST_ADDRESS = 320;
const MOST_RECIPIENTS = 20;
const ADDRESS = /^[^\s@<>()[\],;:\\"]{1,64}@[^\s@<>()[\],;:\\"]{1,255}$/;

export interface Mailbox {
  readonly name: string;
  readonly address: string;
}
/** Reads `ada@example.com` and `Ada <ada@example.com>`; undefined for anything else. */
export function mailboxIn(written: string): Mailbox | undefined {
  const text = written.trim();
  const at = text.endsWith('>') ? text.indexOf('<') : -1;
  const address = at < 0 ? text : text.slice(at + 1, -1);
  const name = at < 0 ? '' : text.slice(0, at).trim().replace(/^"/, '').replace(/"$/, '');
  return ADDRESS.test(address) && !/["<>]/.test(name) ? { name, address } : undefined;
}
export const recipientsIn = (addresses: string): string[] =>
  addresses
    .split(',')
    .map((address) => address.trim())
    .filter(Boolean);

const Sender = describedAs(
  custom<string>(
    text()
      .max(2 * LONGEST_ADDRESS)
      .custom((value: string) => {
        if (value !== '' && (/[\p{Cc}]/u.test(value) || mailboxIn(value) === undefined))
          throw new Error('it must be an address such as ada@example.com or Ada <ada@example.com>, or blank');
        return value;
      }),
  ),
  { type: 'string', maxLength: 2 * LONGEST_ADDRESS },
);
const Recipients = describedAs(
  custom<string>(
    text()
      .max(MOST_RECIPIENTS * LONGEST_ADDRESS)
      .custom((value: string) => {
        const addresses = recipientsIn(value);
        const wrong = addresses.find((address) => !ADDRESS.test(address));
        if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong.slice(0, 80))} is not an address`);
        if (addresses.length > MOST_RECIPIENTS)
          throw new Error(`it has ${addresses.length} addresses; at most ${MOST_RECIPIENTS} are possible`);
        return value;
      }),
  ),
  { type: 'string' },
);
const line = (longest: number) =>
  text()
    .max(longest)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');

export const mailSettings = inSection('Mail', {
  smtpEnable: setting(bool(), false, 'send notifications by mail'),
  smtpHost: setting(
    text()
      .max(255)
      .pattern(/^[A-Za-z0-9.:_-]*$/, 'host name or address'),
    '',
    'mail server',
    { when: { field: 'smtpEnable' } },
  ),
  smtpPort: setting(int().min(1).max(65_535), 587, 'port of the mail server', {
    when: { field: 'smtpEnable' },
  }),
  smtpEncryptionType: setting(
    oneOf('none', 'starttls', 'tls'),
    'starttls',
    'starttls: the connection must be encrypted before anything is sent; tls: encrypted from its start (port 465); none: not encrypted, and then a password is only sent to this machine',
    { when: { field: 'smtpEnable' } },
  ),
  smtpSkipVerify: setting(bool(), false, 'take any certificate of the mail server', {
    when: { field: 'smtpEnable' },
    level: 'advanced',
  }),
  smtpUsername: setting(line(255), '', 'account at the mail server; empty for none', {
    when: { field: 'smtpEnable' },
  }),
  smtpPassword: setting(line(1024), '', 'password of that account', {
    when: { field: 'smtpEnable' },
    secret: true,
  }),
  smtpFrom: setting(Sender, '', 'address of the sender; empty for smtpUsername', {
    when: { field: 'smtpEnable' },
  }),
  smtpFromName: setting(line(200), '', 'name of the sender', {
    when: { field: 'smtpEnable' },
    level: 'advanced',
  }),
  smtpTo: setting(Recipients, '', 'addresses that get the mails, comma-separated', {
    when: { field: 'smtpEnable' },
  }),
  smtpLang: setting(
    word()
      .max(35)
      .pattern(/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}$/, 'language tag, such as en or fa'),
    'en',
    'language of the mails',
    { when: { field: 'smtpEnable' }, level: 'advanced' },
  ),
  smtpEnabledEvents: setting(
    list(word().max(64)).unique().max(200),
    ['default'],
    'events to send mails about, by name; `default` stands for those that matter to most',
    { when: { field: 'smtpEnable' }, level: 'advanced' },
  ),
});
