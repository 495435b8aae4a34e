// Amounts of bytes, in the units that the reader has chosen.

export type Units = 'binary' | 'decimal';

const NAMES = {
  binary: ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'],
  decimal: ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'],
} as const;
const STEP = { binary: 1024, decimal: 1000 } as const;

/** The bytes of one GiB or GB: the unit in which limits are typed. */
export const gigabyte = (units: Units): number => STEP[units] ** 3;
export const gigabyteName = (units: Units): string => NAMES[units][3];

export interface Amount {
  readonly value: number;
  readonly unit: string;
  /** digits after the point */
  readonly digits: number;
}

/** Three significant digits, and never 1,024 of a unit. */
export function amountOf(bytes: number, units: Units): Amount {
  const names = NAMES[units];
  const step = STEP[units];
  let value = Math.max(0, Number.isFinite(bytes) ? bytes : 0);
  let place = 0;
  while (place < names.length - 1 && Number(value.toFixed(digitsOf(value, place))) >= step) {
    value /= step;
    place++;
  }
  return { value, unit: names[place] ?? '', digits: digitsOf(value, place) };
}

function digitsOf(value: number, place: number): number {
  if (place === 0 || value >= 99.95) return 0;
  return value >= 9.995 ? 1 : 2;
}

/** A limit as it is typed, such as `1.5`, in bytes; undefined for a text that is no number. Blank is no limit, 0. */
export function bytesOfTyped(typed: string, units: Units): number | undefined {
  const text = latinDigits(typed).trim().replace(',', '.');
  if (text === '') return 0;
  if (!/^\d{1,9}(?:\.\d{1,6})?$/.test(text)) return undefined;
  return Math.round(Number(text) * gigabyte(units));
}

/** Bytes as a number to type, such as `1.5`; blank for no limit. */
export function typedBytes(bytes: number, units: Units): string {
  if (bytes <= 0) return '';
  return String(Number((bytes / gigabyte(units)).toFixed(6)));
}

/** Digits as Persian and Arabic keyboards write them. */
export const latinDigits = (text: string): string =>
  text
    .replace(/[\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) - 0x06f0))
    .replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x0660))
    .replace(/\u066b/g, '.');
