// Which packed form of a file a browser takes (RFC 9110, 12.5.3).

/** The best first. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The best form that the header accepts; the plain one for a browser that names none. */
export function encodingFor(accepted: string | undefined): Encoding {
  const weights = new Map<string, number>();
  for (const entry of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  return (
    ENCODINGS.find(
      (encoding) => encoding !== 'identity' && (weights.get(encoding) ?? weights.get('*') ?? 0) > 0,
    ) ?? 'identity'
  );
}
