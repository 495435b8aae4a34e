import test from 'ava';
import type { LogLevel } from '../../plugins/panel-logs/contract.js';
import { createLog } from '../log.js';
import { LogBuffer } from '../log-buffer.js';

const add = (buffer: LogBuffer, text: string, level: LogLevel = 'info'): void =>
  buffer.add({ at: 1, level, text });
const texts = (buffer: LogBuffer, count = 100, least: LogLevel = 'debug'): string[] =>
  buffer.last(count, least).map(({ text }) => text);

test('the last lines stay, newest first, as many as the buffer has room for', (t) => {
  const buffer = new LogBuffer({ lines: 3, characters: 1000 });
  t.deepEqual(texts(buffer), []);
  for (let i = 1; i <= 20; i++) {
    add(buffer, String(i));
    const expected = [i, i - 1, i - 2].filter((number) => number > 0).map(String);
    t.deepEqual(texts(buffer), expected);
  }
  t.deepEqual(texts(buffer, 2), ['20', '19']);
});

test('long lines push out more than one, and the newest line always stays', (t) => {
  const buffer = new LogBuffer({ lines: 100, characters: 10 });
  for (const text of ['aaa', 'bbb', 'ccc', 'dd']) add(buffer, text);
  t.deepEqual(texts(buffer), ['dd', 'ccc', 'bbb']);
  add(buffer, 'x'.repeat(9));
  t.deepEqual(texts(buffer), ['x'.repeat(9)]);
  add(buffer, 'y'.repeat(50));
  t.deepEqual(texts(buffer), ['y'.repeat(50)]);
  add(buffer, 'z');
  t.deepEqual(texts(buffer), ['z']);
});

test('a level selects it and more severe ones, before the count', (t) => {
  const buffer = new LogBuffer();
  for (const level of ['error', 'warn', 'info', 'debug'] as const) add(buffer, level, level);
  t.deepEqual(texts(buffer, 10, 'info'), ['info', 'warn', 'error']);
  t.deepEqual(texts(buffer, 1, 'warn'), ['warn']);
  t.deepEqual(texts(buffer, 10, 'error'), ['error']);
});

test('the log keeps what it writes, with its fields and without secrets; its level changes while it runs', (t) => {
  const buffer = new LogBuffer();
  const written: string[] = [];
  const options = {
    level: 'info' as LogLevel,
    readable: false,
    write: (line: string) => void written.push(line),
    keep: buffer.add.bind(buffer),
  };
  const log = createLog(options);
  const child = log.child({ plugin: 'a' });
  child.debug('unseen');
  child.info('seen', { count: 1, token: 'x1x' });
  log.error('plain');
  options.level = 'debug';
  child.debug('now seen');
  options.level = 'error';
  log.warn('unseen again');
  t.deepEqual(texts(buffer), [
    'now seen {"plugin":"a"}',
    'plain',
    'seen {"plugin":"a","count":1,"token":"***"}',
  ]);
  t.is(written.length, 3);
});
