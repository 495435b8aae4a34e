// A QR code as a PNG with one bit for each pixel (RFC 2083).
import { crc32, deflateSync } from 'node:zlib';
import { encode } from 'uqr';

/** A quiet zone of four modules belongs to a QR code. */
const BORDER = 4;
const PIXELS = 8;
/** Bytes of the largest code with the lowest correction. */
const MOST_BYTES = 2_900;

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, check]);
}

/** Returns undefined for a text that fits into no code. */
export function qrPng(text: string): Buffer | undefined {
  if (Buffer.byteLength(text) > MOST_BYTES) return undefined;
  const { data } = encode(text, { ecc: 'L', border: BORDER });
  const side = data.length * PIXELS;
  const bytes = Math.ceil(side / 8);
  const rows: Buffer[] = [];
  for (const modules of data) {
    // A filter byte, then a bit for each pixel; 1 is white.
    const row = Buffer.alloc(1 + bytes, 0xff);
    row[0] = 0;
    // A module is eight pixels: one byte.
    for (const [x, isDark] of modules.entries()) if (isDark) row[1 + x] = 0;
    for (let n = 0; n < PIXELS; n++) rows.push(row);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // One bit of grey, no interlace.
  header[8] = 1;
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
