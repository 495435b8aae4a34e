/** Most bytes in a QR code of any size (version 40, level L). */
export const MOST_QR_BYTES = 2_953;

/** The dark modules as one path of an SVG whose unit is a module: one rectangle for each run in a row. */
export function qrPath(modules: readonly (readonly boolean[])[]): string {
  let path = '';
  for (const [y, row] of modules.entries())
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      const start = x;
      while (row[x + 1]) x++;
      path += `M${start} ${y}h${x - start + 1}v1h-${x - start + 1}z`;
    }
  return path;
}
