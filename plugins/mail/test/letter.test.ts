// A notification as a mail.
import test from 'ava';
import { letterOf } from '../letter.js';

const notification = {
  id: '7d3c',
  event: 'loginBlocked',
  severity: 'warning',
  at: Date.UTC(2026, 0, 15, 12),
  title: 'Login\r\nBcc: eve@example.com',
  text: 'a <b> & c',
  data: {},
} as const;
const options = {
  from: { name: 'Panel', address: 'panel@example.com' },
  to: ['ada@example.com'],
  host: 'host',
  language: 'en',
};
const headersOf = async (more: object = {}): Promise<string> =>
  String(await letterOf({ ...notification, ...more }, options)).split('\r\n\r\n', 1)[0] ?? '';

test('each attempt has the same id, and an automatic reply is not asked for', async (t) => {
  for (let attempt = 0; attempt < 2; attempt++) {
    const headers = await headersOf();
    t.regex(headers, /^Message-ID: <7d3c@example\.com>$/im);
    t.regex(headers, /^Auto-Submitted: auto-generated$/m);
  }
});

test('a title is one header line of a limited length', async (t) => {
  t.regex(await headersOf(), /^Subject: host Login Bcc: eve@example\.com$/m);
  t.notRegex(await headersOf(), /^Bcc:/m);
  const long = (await headersOf({ title: 'x'.repeat(5_000) })).replaceAll(/\r\n /g, ' ');
  t.true((/^Subject: (.*)$/m.exec(long)?.[1]?.length ?? 999) <= 200);
});
