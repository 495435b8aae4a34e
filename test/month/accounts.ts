// The thousand accounts of the month, of ten kinds.
export const GB = 2 ** 30;
const DAY = 86_400_000;

/** What an admin sends for the client of this number; `start` is the beginning of the month in Unix ms. */
export function account(number: number, start: number): Record<string, unknown> & { readonly email: string } {
  const email = `client-${String(number).padStart(4, '0')}`;
  const kind = number % 10;
  if (kind < 4)
    return {
      email,
      totalGB: 20 * GB,
      expiryTime: start + (5 + (number % 20)) * DAY + (number % 24) * 3_600_000,
      reset: 7 * (1 + (number % 3)),
    };
  switch (kind) {
    case 4:
      return { email, totalGB: 2 * GB };
    case 5:
      return { email, totalGB: 3 * GB, trafficReset: 'weekly' };
    case 6:
      return { email, expiryTime: -7 * DAY };
    case 7:
      return { email, expiryTime: start + 10 * DAY };
    case 8:
      return { email, group: 'family' };
    default:
      return { email };
  }
}
