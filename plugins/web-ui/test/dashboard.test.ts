// What the dashboard says needs the admin, points on one axis, preferences, and troubles.
import test from 'ava';
import { PanelFailure, PanelUnreachable } from '../../../sdk/failure.js';
import { isAbsent, saidAt, troubleOf } from '../page/api/trouble.js';
import { alignedPoints } from '../page/dashboard/aligned.js';
import { needsOf } from '../page/dashboard/needs.js';
import { loginTroubleOf } from '../page/login/trouble.js';
import { browserStore } from '../page/preferences/browser-store.js';
import { DEFAULTS, preferencesOf } from '../page/preferences/preferences.js';
import { encodingFor } from '../encoding.js';

const NOW = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;
const backup = { schedule: 'daily', doneAt: NOW - DAY, problem: '' } as never;
const texts = (known: Partial<Parameters<typeof needsOf>[0]>) =>
  needsOf({ now: NOW, ...known }).map(({ text }) => text);

test('nothing is needed where all is well, or not known', (t) => {
  t.deepEqual(needsOf({ now: NOW }), []);
  t.deepEqual(
    texts({
      summary: { expiringCount: 0, depletedCount: 0 },
      plugins: [{ name: 'a', state: 'running', reason: '' }] as never,
      alarms: [{ name: 'cpu', isActive: false, text: '' }] as never,
      backup,
      core: { state: 'running', errorMsg: '' },
    }),
    [],
  );
});

test('a certificate that has ended, ends soon, or could not be ordered', (t) => {
  const of = (state: string, days: number, lastError = '') =>
    texts({
      certificates: [
        { id: 1, names: ['a.example'], state, validTo: new Date(NOW + days * DAY).toISOString(), lastError },
      ] as never,
    });
  t.deepEqual(of('valid', 30), []);
  t.deepEqual(of('none', 0), []);
  t.deepEqual(of('valid', 14), []);
  t.deepEqual(of('valid', 13.5), ['needs.certificateEnds']);
  t.deepEqual(of('expired', -1), ['needs.certificateEnded']);
  t.deepEqual(of('valid', 30, 'refused'), ['needs.certificateFailed']);
});

test('what is broken comes before what is near', (t) => {
  t.deepEqual(
    texts({
      summary: { expiringCount: 3, depletedCount: 1 },
      plugins: [
        { name: 'a', state: 'running', reason: 'a part is left out' },
        { name: 'b', state: 'faulty', reason: 'broken' },
      ] as never,
      alarms: [{ name: 'disk', isActive: true, text: 'full' }] as never,
      backup: { schedule: 'daily', doneAt: NOW - 9 * DAY, problem: '' } as never,
      core: { state: 'error', errorMsg: 'no config' },
    }),
    [
      'needs.coreFailed',
      'needs.pluginDown',
      'needs.pluginTrouble',
      'needs.alarm',
      'needs.backupOld',
      'needs.depleted',
      'needs.expiring',
    ],
  );
  t.deepEqual(texts({ backup: { schedule: '', doneAt: 0, problem: '' } as never }), ['needs.noBackup']);
  t.deepEqual(texts({ backup: { schedule: 'daily', doneAt: 0, problem: '' } as never }), []);
  t.deepEqual(texts({ backup: { schedule: 'daily', doneAt: NOW, problem: 'x' } as never }), [
    'needs.backupFailed',
  ]);
  for (const [days, needs] of [
    [7.9, []],
    [8, ['needs.backupOld']],
  ] as const)
    t.deepEqual(
      texts({ backup: { schedule: 'daily', doneAt: NOW - days * DAY, problem: '' } as never }),
      [...needs],
      String(days),
    );
  t.deepEqual(texts({ core: { state: 'running', errorMsg: 'x' } }), ['needs.coreTrouble']);
});

test('points of several series share their times', (t) => {
  t.deepEqual(
    alignedPoints([
      [
        { t: 1, v: 10 },
        { t: 3, v: 30 },
      ],
      [
        { t: 2, v: 5 },
        { t: 3, v: 6 },
      ],
    ]),
    {
      times: [1, 2, 3],
      lines: [
        [10, null, 30],
        [null, 5, 6],
      ],
    },
  );
});

test('preferences that do not fit are the usual ones', (t) => {
  t.deepEqual(preferencesOf(null), DEFAULTS);
  t.deepEqual(preferencesOf('not json'), DEFAULTS);
  t.deepEqual(preferencesOf('[1]'), DEFAULTS);
  t.deepEqual(preferencesOf('{"theme":"pink","units":"decimal","language":5,"more":1}'), {
    ...DEFAULTS,
    units: 'decimal',
  });
});

test('preferences are stored, and last as long as the page where that is forbidden', (t) => {
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  } as unknown as Storage;
  browserStore(() => storage).write({ theme: 'dark' });
  t.is(browserStore(() => storage).read().theme, 'dark');
  const forbidden = browserStore(() => {
    throw new Error('forbidden');
  });
  let changes = 0;
  const end = forbidden.subscribe(() => changes++);
  forbidden.write({ units: 'decimal' });
  end();
  forbidden.write({ units: 'binary' });
  t.is(forbidden.read().units, 'binary');
  t.is(changes, 1);
});

test('each trouble has a sentence and a code', (t) => {
  const text = (error: unknown) => [troubleOf(error).text, troubleOf(error).code];
  t.deepEqual(text(new PanelUnreachable('network', 'x', false)), ['trouble.unreachable', 'network']);
  t.deepEqual(text(new PanelUnreachable('timeout', 'x', true)), ['trouble.maybeDone', 'timeout']);
  t.deepEqual(text(new PanelFailure(502, { msg: '<html>' })), ['trouble.foreign', '502']);
  t.deepEqual(text(new PanelFailure(500, { code: 'KERNEL_INTERNAL', requestId: 'r1' })), [
    'trouble.panel',
    'KERNEL_INTERNAL r1',
  ]);
  t.deepEqual(text(new PanelFailure(404, { code: 'X' })), ['trouble.missing', 'X']);
  t.deepEqual(text(new PanelFailure(429, { code: 'X' })), ['trouble.tooMany', 'X']);
  t.deepEqual(text(new TypeError('broken')), ['trouble.page', 'TypeError']);
  const refused = troubleOf(
    new PanelFailure(400, { code: 'X', msg: 'wrong', obj: { issues: [{ path: 'a', message: 'is wrong' }] } }),
  );
  t.deepEqual([refused.text, refused.said], ['trouble.refused', 'a: is wrong']);
  t.is(saidAt({ path: 'client.email', message: 'client.email must be: a name' }), 'must be: a name');
  t.is(saidAt({ path: 'a.b', message: 'a.b: not both' }), 'not both');
  t.is(saidAt({ path: 'a', message: 'ab is wrong' }), 'ab is wrong');
  t.is(saidAt({ path: '', message: 'wrong' }), 'wrong');
  t.is(saidAt(undefined), undefined);
  const twice = new PanelFailure(400, {
    code: 'X',
    obj: { issues: [{ path: 'a.b', message: 'a.b is required' }] },
  });
  t.is(troubleOf(twice).said, 'a.b: is required');
  for (const code of ['KERNEL_NOT_FOUND', 'KERNEL_PLUGIN_OFF'])
    t.true(isAbsent(new PanelFailure(404, { code })));
  t.false(isAbsent(new PanelFailure(404, { code: 'CLIENTS_NOT_FOUND' })));
});

test('a login that fails says what to do', (t) => {
  const of = (status: number, code: string, hadCode = false) =>
    loginTroubleOf(new PanelFailure(status, { code }), hadCode).text;
  t.is(of(401, 'ACCESS_WRONG_LOGIN'), 'login.wrong');
  t.is(of(401, 'ACCESS_WRONG_LOGIN', true), 'login.wrongWithCode');
  t.is(of(429, 'ACCESS_TOO_MANY_LOGINS'), 'login.tooMany');
  t.is(of(400, 'KERNEL_INVALID'), 'login.invalid');
  t.is(of(502, ''), 'trouble.foreign');
  t.is(loginTroubleOf(new PanelUnreachable('network', 'x', true), false).text, 'trouble.unreachable');
});

test('the best packing that a browser takes is chosen', (t) => {
  t.is(encodingFor('gzip, deflate, br, zstd'), 'br');
  t.is(encodingFor('gzip;q=0.5, br;q=0'), 'gzip');
  t.is(encodingFor('*'), 'br');
  t.is(encodingFor('*;q=0, gzip'), 'gzip');
  for (const none of [undefined, '', 'identity', 'zstd', 'br;q=x']) t.is(encodingFor(none), 'identity', none);
});
