import test from 'ava';
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { Fifo } from '../../test/harness/fifo.js';
import { until } from '../../test/harness/until.js';
import { Output } from '../output.js';

const MIB = 1024 * 1024;
/** 100 bytes, with a number to know it by. */
const line = (number: number): string => `${`line ${number} `.padEnd(99, '.')}\n`;
const numbers = (text: string): number[] =>
  [...text.matchAll(/^line (\d+) \.+$/gm)].map(([, number]) => Number(number));

test('a pipe that nobody empties takes no more memory than the limit, and its lines are counted', async (t) => {
  const fifo = Fifo.make(t);
  const reports: [number, string][] = [];
  const output = new Output(fifo.fd, (...report) => reports.push(report));
  const written = 40_000;
  for (let i = 0; i < written; i++) output.write(line(i));
  t.deepEqual(reports, []);

  let text = '';
  await until(() => {
    text += fifo.take();
    return reports.length > 0;
  }, 'the count comes');
  text += fifo.take();
  const got = numbers(text);
  t.deepEqual(got, [...got.keys()], 'in order, none twice, none torn');
  t.is(text.length, got.length * 100);
  t.deepEqual(reports, [[written - got.length, 'EAGAIN']]);
  t.true(text.length > MIB && text.length < 1.5 * MIB, `${text.length}`);
  output.write(line(written));
  t.deepEqual(numbers(fifo.take()), [written]);
});

test('a reader that comes after another went gets what waited, and hears of what was dropped', async (t) => {
  const fifo = Fifo.make(t);
  const reports: [number, string][] = [];
  const output = new Output(fifo.fd, (...report) => reports.push(report));
  output.write(line(0));
  fifo.closeReaders();
  const kept = Math.floor(MIB / 100);
  for (let i = 1; i <= kept + 10; i++) output.write(line(i));
  t.is(output.problem, 'EPIPE');

  let text = '';
  const reader = fifo.reader().on('data', (chunk: Buffer) => (text += chunk.toString()));
  t.teardown(() => reader.destroy());
  await until(() => numbers(text).length === kept + 1, 'the reader gets what waited');
  t.deepEqual(numbers(text), [...Array(kept + 1).keys()]);
  t.deepEqual(reports, [[10, 'EPIPE']]);
  t.is(output.problem, '');
});

test('a full device neither throws nor takes more than the limit', (t) => {
  const output = new Output(openSync('/dev/full', 'w'), () => t.fail('nothing was ever written'));
  for (let i = 0; i < (2 * MIB) / 100; i++) output.write(line(i));
  output.flush();
  t.pass();
});

test('the end of the process waits for a reader that is there', async (t) => {
  const fifo = Fifo.make(t);
  const cat = spawn('cat', [fifo.path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => cat.kill());
  const output = new Output(fifo.fd, () => undefined);
  for (let i = 0; i < 9_000; i++) output.write(line(i));
  output.flush();
  let text = '';
  cat.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await until(() => numbers(text).length === 9_000, 'the reader has all lines');
  t.pass();
});
