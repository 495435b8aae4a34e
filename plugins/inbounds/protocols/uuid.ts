// Ids of users in VLESS and VMess.
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The core makes an id of any other text, so nobody would notice a wrong one. */
export const uuidProblem = (id: unknown): string | undefined =>
  UUID.test(String(id)) ? undefined : 'id must be a UUID of 36 characters';
