// The file: which clients a group should have. It is read whole and checked whole before the panel is called.
import { open } from 'node:fs/promises';

export interface WishedClient {
  readonly email: string;
  readonly totalGB: number;
  readonly expiryTime: number;
  readonly enable: boolean;
  readonly limitIp: number;
  readonly comment: string;
}
export interface Wishes {
  /** The script changes clients of this group, and no other. */
  readonly group: string;
  readonly inboundIds: readonly number[];
  /** what happens to clients of the group that the file does not name */
  readonly others: 'disable' | 'delete';
  readonly clients: readonly WishedClient[];
}

/** The file is wrong; each line of the message names a field. */
export class WrongFile extends Error {}

const MOST_BYTES = 10 * 1024 * 1024;
const MOST_CLIENTS = 10_000;
const MOST_NAMED = 20;
/** Two emails with the same key are one client for the panel. */
export const keyOf = (email: string): string => email.normalize('NFC').toLowerCase();

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';
const isEmail = (value: unknown): value is string => isText(value) && /^[^\s/\\]{1,255}$/.test(value);

type Check = readonly [isRight: (value: unknown) => boolean, expected: string, ifMissing?: unknown];
const FILE: Readonly<Record<string, Check>> = {
  group: [(value) => isText(value) && /^\S.{0,254}$/.test(value), 'must be the name of a group'],
  inboundIds: [
    (value) => Array.isArray(value) && value.length > 0 && value.every((id) => isCount(id) && id > 0),
    'must be a list of ids of inbounds',
  ],
  others: [(value) => value === 'disable' || value === 'delete', 'must be "disable" or "delete"', 'disable'],
  clients: [Array.isArray, 'must be a list'],
};
const CLIENT: Readonly<Record<string, Check>> = {
  email: [isEmail, 'must be text without spaces and slashes'],
  totalGB: [isCount, 'must be a number of bytes, 0 for no limit', 0],
  // A time that counts from the first use is another one after it.
  expiryTime: [isCount, 'must be a time in Unix ms, 0 for never', 0],
  enable: [(value) => typeof value === 'boolean', 'must be true or false', true],
  limitIp: [isCount, 'must be a number of addresses, 0 for no limit', 0],
  comment: [isText, 'must be text', ''],
};

/** The object with what may be missing; what is wrong goes to `problems`. */
function checked(
  value: unknown,
  at: string,
  checks: typeof FILE,
  problems: string[],
): Record<string, unknown> {
  if (!isObject(value)) {
    problems.push(`${at || 'the file'} must be an object`);
    return {};
  }
  const path = (name: string): string => (at ? `${at}.${name}` : name);
  for (const name of Object.keys(value))
    if (!Object.hasOwn(checks, name))
      problems.push(`${path(name)} is not known; known are ${Object.keys(checks).join(', ')}`);
  return Object.fromEntries(
    Object.entries(checks).map(([name, [isRight, expected, ifMissing]]) => {
      const given = value[name] ?? ifMissing;
      if (!isRight(given)) problems.push(`${path(name)} ${expected}`);
      return [name, given];
    }),
  );
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const more = problems.length - MOST_NAMED;
  const named = problems.slice(0, MOST_NAMED);
  throw new WrongFile([...named, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
}

/** Checks the text of a file; throws WrongFile. */
export function wishesOf(text: string): Wishes {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new WrongFile(`the file is not valid JSON: ${(error as Error).message}`);
  }
  const problems: string[] = [];
  const file = checked(parsed, '', FILE, problems);
  refuse(problems);
  const list = file['clients'] as unknown[];
  if (list.length > MOST_CLIENTS)
    throw new WrongFile(`clients has ${list.length} entries; at most ${MOST_CLIENTS} are allowed`);
  const first = new Map<string, number>();
  const clients = list.map((value, i) => {
    const client = checked(value, `clients[${i}]`, CLIENT, problems) as unknown as WishedClient;
    if (!isText(client.email)) return client;
    const earlier = first.get(keyOf(client.email));
    if (earlier === undefined) first.set(keyOf(client.email), i);
    else problems.push(`clients[${i}].email is that of clients[${earlier}]: ${client.email}`);
    return client;
  });
  refuse(problems);
  return { ...(file as unknown as Wishes), clients };
}

/** Reads no more of a file than it may have. */
export async function readWishes(path: string): Promise<Wishes> {
  const file = await open(path).catch((error: Error) => {
    throw new WrongFile(`${path} cannot be read: ${error.message}`);
  });
  try {
    const { size } = await file.stat();
    if (size > MOST_BYTES)
      throw new WrongFile(`${path} has ${size} bytes; at most ${MOST_BYTES} are allowed`);
    return wishesOf(await file.readFile('utf8'));
  } finally {
    await file.close();
  }
}
