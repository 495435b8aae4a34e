// Names of backup files.
const twoDigits = (part: number): string => String(part).padStart(2, '0');

/** `2026-11-23_040506` in the time zone of the machine. */
export const stamp = (at: Date): string =>
  `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}_${[at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join('')}`;

/** The name of a download: the host that the caller asked for, and the time. An IPv6 address has hyphens for colons. */
export function downloadNameFor(host: string, at: Date): string {
  const safe = host
    .replaceAll(/[[\]]/g, '')
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 100)
    .replaceAll(/^[.-]+|[.-]+$/g, '');
  return `${safe || 'weir'}_${stamp(at)}.db`;
}
