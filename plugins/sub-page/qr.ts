// QR codes as SVG.
import { encode } from 'uqr';
import { type Html, html } from './html.js';

/** More bytes make modules that a phone cannot tell apart on the screen of another. */
const MOST_BYTES = 800;
/** The white edge that a reader needs. */
const EDGE = 4;
/** Every mask is valid. To try all eight takes ten times as long, and the page is written on the thread of all fetches. */
const MASK = 2;

/** Undefined for a text that is too long for a code that can be read. */
export function qrCode(text: string, label: string): Html | undefined {
  if (Buffer.byteLength(text) > MOST_BYTES) return undefined;
  const { size, data } = encode(text, { ecc: 'L', boostEcc: true, border: 0, maskPattern: MASK });
  const whole = size + 2 * EDGE;
  // A row is a line of width 1 around its y, so the picture begins half a module above the first.
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="${-EDGE} ${-EDGE - 0.5} ${whole} ${whole}" shape-rendering="crispEdges"><path fill="#fff" d="M${-EDGE} ${-EDGE - 0.5}h${whole}v${whole}h-${whole}z"/><path stroke="#000" d="${lines(data)}"/></svg>`;
}

/** One line for each run of dark modules, relative to the end of the run before. */
function lines(rows: readonly (readonly boolean[])[]): string {
  let path = '';
  for (const [y, row] of rows.entries()) {
    let end = -1;
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      const begin = x;
      while (row[x]) x++;
      path += end < 0 ? `M${begin} ${y}` : `m${begin - end} 0`;
      path += `h${x - begin}`;
      end = x;
    }
  }
  return path;
}
