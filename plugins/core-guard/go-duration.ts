// Durations as Go writes them, such as 1h30m or 500ms. Source: pkg.go.dev/time#ParseDuration.

const SECONDS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};
const MOST_CHARACTERS = 100;

/** Returns the seconds of a duration, or undefined where Go finds none. */
export function goSeconds(text: string): number | undefined {
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return 0;
  if (unsigned === '' || unsigned.length > MOST_CHARACTERS) return undefined;
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;
  let seconds = 0;
  while (part.lastIndex < unsigned.length) {
    const [, count, unit = ''] = part.exec(unsigned) ?? [];
    if (count === undefined) return undefined;
    seconds += Number(count) * (SECONDS[unit] ?? 0);
  }
  return text.startsWith('-') ? -seconds : seconds;
}
