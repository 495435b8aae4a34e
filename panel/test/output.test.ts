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

test('limits the memory for a pipe without a reader, and counts dropped lines', async (t) => {
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
  t.is(reports.length, 1, 'what was reported is not reported again');
});

test('a line that a pipe takes in parts arrives once and complete', async (t) => {
  const fifo = Fifo.make(t);
  const reports: number[] = [];
  const output = new Output(fifo.fd, (lines) => reports.push(lines));
  const long = `${'0123456789'.repeat(30_000)}\n`;
  output.write(long);
  output.write(line(1));
  t.is(output.problem, 'EAGAIN');
  let text = '';
  await until(() => {
    text += fifo.take();
    return output.problem === '';
  }, 'all is written');
  text += fifo.take();
  t.true(text === long + line(1), `${text.length} characters`);
  t.deepEqual(reports, []);
  // What went out in parts is counted once: the limit is as it was.
  for (let i = 0; i < 20_000; i++) output.write(line(i));
  await until(() => {
    fifo.take();
    return reports.length > 0;
  }, 'the count comes');
  t.true((reports[0] ?? 0) > 8_000, `${reports[0]} lines were dropped`);
});

test('a new reader gets the waiting lines and the number of dropped ones', async (t) => {
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

test('a full device does not throw and does not exceed the limit', (t) => {
  const output = new Output(openSync('/dev/full', 'w'), () => t.fail('nothing was ever written'));
  for (let i = 0; i < (2 * MIB) / 100; i++) output.write(line(i));
  output.flush();
  t.pass();
});

test('the process waits for its reader before it exits', async (t) => {
  const fifo = Fifo.make(t);
  const script = 'exec < "$0"; read -r first; echo "$first"; sleep 0.05; exec cat';
  const cat = spawn('sh', ['-c', script, fifo.path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => cat.kill());
  const output = new Output(fifo.fd, () => undefined);
  let text = '';
  cat.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  output.write(line(0));
  await until(() => numbers(text).length === 1, 'the reader is there');
  // More than the pipe takes at once, and not more than both pipes of the reader.
  output.write(Array.from({ length: 1_499 }, (_, i) => line(i + 1)).join(''));
  output.flush();
  t.is(output.problem, '');
  await until(() => numbers(text).length === 1_500, 'the reader has all lines');
});
