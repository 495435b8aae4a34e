// A new panel has no default password: name and password are generated once, shown once and never logged.
import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { type Log, type Principal, replaceFile } from '../../kernel/index.js';
import type { Admins } from './admins.js';

const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
export const randomName = (): string =>
  `admin-${Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;

export const firstLoginFile = (dataDirectory: string): string => join(dataDirectory, 'first-login.txt');

export interface FirstLogin {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** Creates the first admin if there is none. Shows what it generates: on the terminal, or in a file that only its owner can read. */
export async function createFirstAdmin(
  admins: Admins,
  given: FirstLogin,
  place: { basePath: () => string; dataDirectory: string; log: Log; self: Principal },
): Promise<void> {
  if (!(await admins.isEmpty())) return;
  const username = given.username ?? randomName();
  const password = given.password ?? randomBytes(15).toString('base64url');
  const lines = [
    `user name  ${username}`,
    `password   ${given.password === undefined ? password : '(from WEIR_ADMIN_PASSWORD)'}`,
    `base path  ${place.basePath()}`,
  ];
  if (process.stdout.isTTY) {
    await admins.create(username, password, place.self);
    process.stdout.write(`\nThis is shown once:\n${lines.map((line) => `  ${line}\n`).join('')}\n`);
    return;
  }
  const file = firstLoginFile(place.dataDirectory);
  // The file is written first: an admin with an unknown password would lock the panel forever.
  await replaceFile(file, `${lines.join('\n')}\n`, 0o600);
  await admins.create(username, password, place.self);
  place.log.info('first login written to a file; read it and delete it', { file });
}
