// Texts that make a careless pattern try every part of them to the end: these would take hours, and stall the panel meanwhile.
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { baseName } from '../../net/file-name.js';
import { hostName } from '../../net/host-name.js';
import { StaticFolder } from '../../net/static-folder.js';
import { hostOf } from '../../plugins/core-guard/address.js';
import { costlyProblem } from '../../plugins/core-guard/costly-settings.js';
import type { Place } from '../../plugins/core-guard/walk.js';

import { privateHost } from '../../plugins/engine/config/private-hosts.js';
import { digestIn } from '../../plugins/engine/install/download.js';
import { mailboxIn } from '../../plugins/mail/settings.js';
import { authoritiesIn } from '../../plugins/nodes/mtls/trusted-centrals.js';
import { readTemplate } from '../../plugins/sub-alt/template/template.js';
import { readObservatory } from '../../plugins/sub-json/texts/observatory.js';
import { compilePattern } from '../../plugins/subscription/agents/pattern.js';

const MANY = 1_000_000;

test('the name of an uploaded file', (t) => t.is(baseName(`${'a'.repeat(MANY)}/`), ''));

test('a host', (t) => {
  t.is(hostName(`[${':'.repeat(MANY)}`), undefined);
  t.is(hostName('[::1]'), '::1');
  t.is(hostName('[example.com]'), undefined);
});

test('a destination', (t) => {
  t.truthy(hostOf(`${'.'.repeat(MANY)}a`));
  t.deepEqual(hostOf('example.com..'), { name: 'example.com' });
});

test('an interval of the core', (t) => {
  const problem = (value: string) =>
    costlyProblem({ keys: ['burstobservatory', 'pingconfig', 'interval'], value } as unknown as Place);
  t.is(problem('1'.repeat(MANY)), undefined);
  t.is(problem('1.5m30s'), undefined);
  t.regex(problem('0.5s') ?? '', /1s to 24h/);
});

test('an address in the DNS of the core', (t) => {
  const problem = (address: string) =>
    privateHost({ section: 'dns', value: { hosts: { a: address } } } as never, { private: 'block' } as never);
  t.is(problem(`x${' '.repeat(MANY)}x`), undefined);
  t.regex(problem(' [[10.0.0.1]\u0085 ') ?? '', /not public/);
});

test('a digest of a download', (t) => {
  t.is(digestIn(`SHA256${' '.repeat(MANY)}x`), undefined);
  for (const line of [`SHA2-256(a.zip)= ${'a'.repeat(64)}\r\n`, `SHA256 = ${'a'.repeat(64)}`])
    t.is(digestIn(`MD5= 1\n${line}`), 'a'.repeat(64));
});

test('the sender of a mail', (t) => {
  t.is(mailboxIn(' '.repeat(MANY)), undefined);
  const ada = { name: 'Ada', address: 'ada@example.com' };
  for (const text of [' "Ada" <ada@example.com> ', 'Ada<ada@example.com>']) t.deepEqual(mailboxIn(text), ada);
  t.deepEqual(mailboxIn(' ada@example.com '), { ...ada, name: '' });
  for (const text of ['A"da <ada@example.com>', 'A<da <ada@example.com>', '<ada@example.com']) {
    t.is(mailboxIn(text), undefined, text);
  }
});

test('a bundle of authorities', (t) => {
  const begin = '-----BEGIN CERTIFICATE-----';
  t.throws(() => authoritiesIn(begin + ' '.repeat(MANY), 0), { message: /not a certificate in PEM/ });
});

test('an interval of a client program', (t) => {
  t.throws(() => readObservatory(JSON.stringify({ interval: '1'.repeat(MANY) })));
  t.is(readObservatory('{"interval":"1m30s"}').interval, '1m30s');
});

test('a pattern that repeats nothing', (t) => {
  t.true(compilePattern(`${'('.repeat(20)}${'){100}'.repeat(20)}`).test(''));
  t.true(compilePattern('(a|){3}b').test('aab'));
});

test('keys of a template', (t) => {
  // Compared with each other, they would take most of a minute.
  const keys = Array.from({ length: MANY / 20 }, (_, i) => `k${i}: 1\n`).join('');
  t.regex(readTemplate(`${keys}k7: 1`) as string, /unique \(at character \d+\)/);
});

test('the path of a page', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-long-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const pages = new StaticFolder({ folder, fallback: 'index.html', isPublic: false });
  const browser = { headers: { accept: 'text/html' } } as IncomingMessage;
  t.false(await pages.send(browser, {} as ServerResponse, `${'.'.repeat(MANY)}/`));
});
