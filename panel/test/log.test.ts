import test from 'ava';
import { createLog, type Level, type LogOptions } from '../log.js';

function written(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    readable: false,
    write: (line) => void lines.push(line),
    ...options,
  });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown> };
}

test('a line is one JSON object with time, level, message and data', (t) => {
  const { log, lines, last } = written();
  log.info('it happened', { count: 2, text: 'line\nbreak' });
  t.is(lines.length, 1);
  t.regex(lines[0] ?? '', /^\{.*\}\n$/);
  const { time, ...rest } = last();
  t.deepEqual(rest, { level: 'info', msg: 'it happened', count: 2, text: 'line\nbreak' });
  t.false(Number.isNaN(Date.parse(time as string)));
});

test('secrets are never written, wherever they stand', (t) => {
  const { log, lines } = written();
  log.info('login', {
    password: 'x1x',
    newPassword: 'x1x',
    token: 'x1x',
    apiToken: 'x1x',
    botToken: 'x1x',
    Authorization: 'x1x',
    cookie: ['x1x'],
    headers: { cookie: 'x1x', 'x-csrf-token': 'x1x' },
    deep: [{ uuid: 'x1x', privateKey: 'x1x', clientSecret: { value: 'x1x' } }],
    error: Object.assign(new Error('no'), { token: 'x1x' }),
  });
  log.child({ secret: 'x1x' }).warn('child', {});
  t.notRegex(lines.join(''), /x1x/);
  t.regex(lines.join(''), /\*\*\*/);
  log.info('no secret', { hasPassword: true, tokens: 3, user: 'ada' });
  t.regex(lines.at(-1) ?? '', /"hasPassword":true,"tokens":3,"user":"ada"/);
});

test('errors keep name, message, stack, fields and causes', (t) => {
  const { log, last } = written();
  const cause = Object.assign(new TypeError('the root'), { code: 'E_ROOT' });
  log.error('failed', { error: new Error('the surface', { cause }) });
  const error = last()['error'] as {
    name: string;
    message: string;
    stack: string;
    cause: { name: string; message: string; code: string };
  };
  t.deepEqual([error.name, error.message], ['Error', 'the surface']);
  t.regex(error.stack, /log\.test/);
  t.deepEqual([error.cause.name, error.cause.message, error.cause.code], ['TypeError', 'the root', 'E_ROOT']);
});

test('writes nothing below the minimum level', (t) => {
  for (const [level, expected] of [
    ['debug', 4],
    ['info', 3],
    ['warn', 2],
    ['error', 1],
  ] as [Level, number][]) {
    const { log, lines } = written({ level });
    log.debug('d');
    log.info('i');
    log.child({}).warn('w');
    log.error('e');
    t.is(lines.length, expected, level);
  }
});

test('a child adds its own data to every line, and its children theirs', (t) => {
  const { log, last } = written();
  log.child({ plugin: 'a' }).child({ part: 'b' }).info('x', { n: 1 });
  const { plugin, part, n } = last();
  t.deepEqual([plugin, part, n], ['a', 'b', 1]);
});

test('writes values that JSON cannot represent', (t) => {
  const { log, last } = written();
  const circle: Record<string, unknown> = { name: 'circle', password: 'x1x' };
  circle['self'] = circle;
  log.error('round', { circle });
  t.deepEqual(last()['circle'], { name: 'circle', password: '***', self: '[again]' });
  const error: Error & { self?: unknown } = new Error('about itself');
  error.self = error;
  log.error('round', { error });
  t.is((last()['error'] as { message: string }).message, 'about itself');
  log.info('large', { bytes: 2n ** 60n });
  t.is(last()['bytes'], String(2n ** 60n));
});

test('writes readable lines on a terminal, without secrets', (t) => {
  const { log, lines } = written({ readable: true });
  log.warn('mind the gap', { width: 3, token: 'x1x' });
  log.info('nothing more');
  t.regex(lines[0] ?? '', /^\d\d:\d\d:\d\d warn {2}mind the gap \{"width":3,"token":"\*\*\*"\}\n$/);
  t.regex(lines[1] ?? '', /^\d\d:\d\d:\d\d info {2}nothing more\n$/);
});

test('data cannot replace other fields, and a getter that throws does no harm', (t) => {
  const { log, last } = written();
  const own = log.child({ plugin: 'own' });
  own.info('mine', { plugin: 'other', msg: 'plugin fault', level: 'error', count: 1 });
  t.like(last(), { level: 'info', msg: 'mine', plugin: 'own', count: 1 });
  const getter = {
    get value() {
      throw new Error('no');
    },
  };
  t.notThrows(() => own.info('getter', getter));
  t.like(last(), { msg: 'getter', plugin: 'own', unwritable: 'no' });
  own.info('long', { count: 1, text: 'x'.repeat(300_000) });
  t.like(last(), { msg: 'long', plugin: 'own', count: 1, text: '[300011 characters]' });
});
