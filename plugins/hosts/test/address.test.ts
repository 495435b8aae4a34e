// The texts of `hosts`: what other panels and people write, and what none of them can mean.
import test from 'ava';
import { type HostAddress, hostText, parseHost } from '../address.js';

const GOOD: Readonly<Record<string, readonly [address: string, ownPort: number | null, text?: string]>> = {
  '': ['', null],
  ' ': ['', null, ''],
  'h1.com': ['h1.com', null],
  'H1.Com': ['h1.com', null, 'h1.com'],
  'h1.com:443': ['h1.com', 443],
  ' h1.com:443 ': ['h1.com', 443, 'h1.com:443'],
  'h1.com:0': ['h1.com', 0],
  '192.0.2.1:80': ['192.0.2.1', 80],
  '2001:db8::1': ['2001:db8::1', null],
  '2001:DB8:0:0::1': ['2001:db8::1', null, '2001:db8::1'],
  '[2001:db8::1]': ['2001:db8::1', null, '2001:db8::1'],
  '[2001:db8::1]:80': ['2001:db8::1', 80],
  '[2001:db8::1]:080': ['2001:db8::1', 80, '[2001:db8::1]:80'],
  '[2001:db8::1]:+80': ['2001:db8::1', 80, '[2001:db8::1]:80'],
  '[]:80': ['', 80, ':80'],
  ':80': ['', 80],
  'münchen.example:80': ['xn--mnchen-3ya.example', 80, 'xn--mnchen-3ya.example:80'],
};
for (const [sent, [address, ownPort, text = sent]] of Object.entries(GOOD))
  test(`"${sent}" is ${text || 'the address of the inbound'}`, (t) => {
    const parsed = parseHost(sent);
    t.deepEqual(parsed, { address, ownPort });
    t.is(hostText(parsed as HostAddress), text);
    t.deepEqual(parseHost(text), parsed, 'it reads what it writes');
  });

const BAD: Readonly<Record<string, 'host name' | 'port'>> = {
  'h1.com:65536': 'port',
  'h1.com:-1': 'port',
  'h1.com:80a': 'port',
  'h1.com:': 'port',
  'h1.com:1e3': 'port',
  'h1.com:123:456': 'host name',
  '[2001:db8::1]80': 'port',
  '[2001:db8::1': 'host name',
  '[h1.com': 'host name',
  '2001:db8::1]:80': 'host name',
  ' h1.com : 80 ': 'host name',
  'fe80::1%eth0': 'host name',
  '192.0.2.256': 'host name',
  '192.0.2.0/24': 'host name',
  'a/b': 'host name',
  'user@h1.com': 'host name',
  'h1 com': 'host name',
  '*.h1.com': 'host name',
  'h1.com\u0000': 'host name',
  "h'; DROP TABLE hosts; --": 'host name',
};
for (const [sent, says] of Object.entries(BAD))
  test(`${JSON.stringify(sent)} is refused`, (t) => {
    const parsed = parseHost(sent);
    t.true(typeof parsed === 'string' && parsed.includes(says), JSON.stringify(parsed));
  });
