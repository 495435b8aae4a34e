// When a snapshot is composed: for readers that come together once, and another for one that comes to an empty stream.
import test from 'ava';
import { FakeClock } from '../../../test/harness/index.js';
import type { Frame } from '../frame.js';
import { Stream } from '../stream.js';

const reader = () => {
  const frames: Frame[] = [];
  return {
    frames,
    backlog: () => 0,
    mayRead: () => true,
    send: (frame: Frame) => void frames.push(frame),
    cut: () => undefined,
  };
};

test('a reader that comes to a stream without others gets what is true then', async (t) => {
  let composed = 0;
  const log = { info: () => undefined, debug: () => undefined } as never;
  const stream = new Stream({ log, clock: new FakeClock() });
  stream.addSnapshot('count', () => ++composed);
  const [first, second, third] = [reader(), reader(), reader()];
  await stream.join(first);
  await stream.join(second);
  t.is(composed, 1, 'those that come together share one');
  t.is(second.frames[0], first.frames[0]);
  stream.leave(first);
  stream.leave(second);
  // Nobody was told of it, so no number has changed.
  stream.send('count', 'news');
  await stream.join(third);
  t.is(composed, 2);
});
