// What the claims of an account are used for: its name for display, and the user name that a configured claim holds.
type Claims = Readonly<Record<string, unknown>>;

const NAMES = ['preferred_username', 'email', 'name', 'sub'];

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll(/[\p{Cc}\p{Cs}\p{Cf}]/gu, '').trim() : '';

/** A name for people, never for decisions. */
export const nameOf = (claims: Claims): string =>
  NAMES.map((name) => textOf(claims[name])).find((name) => name !== '') ?? '';

/** The text of a claim, letter by letter; undefined where it decides nothing: an address that the provider has not verified. */
export function mappedName(claims: Claims, claim: string): string | undefined {
  const value = claims[claim];
  if (typeof value !== 'string' || value === '') return undefined;
  return claim !== 'email' || claims['email_verified'] === true ? value : undefined;
}
