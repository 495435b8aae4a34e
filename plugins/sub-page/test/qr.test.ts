// The QR codes, read by a reader that is not of the writer's making.
import test from 'ava';
import jsqr from 'jsqr';
import { qrCode } from '../qr.js';
import { link, URL_OF_ADA } from './sample-view.js';

const read = jsqr as unknown as typeof jsqr.default;
const SCALE = 3;

/** Draws the SVG as a browser does: a white square, and lines of one module's height around their y. */
function decoded(svg: string): string | undefined {
  const [left = 0, top = 0, size = 0] = (/viewBox="([^"]*)"/.exec(svg)?.[1] ?? '').split(' ').map(Number);
  const path = /stroke="#000" d="([^"]*)"/.exec(svg)?.[1] ?? '';
  const width = size * SCALE;
  const pixels = new Uint8ClampedArray(4 * width * width).fill(255);
  let [x, y] = [0, 0];
  for (const [, command, first = '0', second = '0'] of path.matchAll(/([Mmh])(\d+)(?: (\d+))?/g)) {
    if (command === 'M') [x, y] = [Number(first), Number(second)];
    else if (command === 'm') [x, y] = [x + Number(first), y + Number(second)];
    else {
      for (let row = (y - 0.5 - top) * SCALE; row < (y + 0.5 - top) * SCALE; row++)
        for (let column = (x - left) * SCALE; column < (x + Number(first) - left) * SCALE; column++)
          pixels.fill(0, 4 * (row * width + column), 4 * (row * width + column) + 3);
      x += Number(first);
    }
  }
  return read(pixels, width, width)?.data;
}

test('a reader reads each code', (t) => {
  for (const text of [
    URL_OF_ADA,
    link(0),
    'x',
    'https://пример.рф/ключ',
    `https://x.example/${'aZ9-'.repeat(100)}`,
    'a'.repeat(800),
    '0'.repeat(100),
  ])
    t.is(decoded(qrCode(text, 'code')?.toString() ?? ''), text);
});

test('a code of every size up to the limit can be read', (t) => {
  for (let length = 8; length <= 800; length += 44) {
    const text = `https://${'q1-_'.repeat(200)}`.slice(0, length);
    t.is(decoded(qrCode(text, 'code')?.toString() ?? ''), text, `${length} bytes`);
  }
});

test('a text that is too long has no code', (t) => {
  t.is(qrCode('a'.repeat(801), 'code'), undefined);
  t.is(qrCode('ü'.repeat(401), 'code'), undefined);
});

test('the code has a name for those who do not see it', (t) => {
  t.true(qrCode('x', '"ada"')?.toString().includes('role="img" aria-label="&quot;ada&quot;"'));
});
