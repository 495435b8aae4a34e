// Admins and API tokens that come from another panel, known by the hashes that it stored.
import {
  inspect,
  int,
  messageOf,
  PanelError,
  type Principal,
  shape,
  sentenceOf,
} from '../../kernel/index.js';
import type { Admins } from './admins.js';
import { isBcrypt } from './bcrypt-thread.js';
import type { AccessArrivalsApi, OlderToken } from './contract.js';
import { errors } from './errors.js';
import type { LimitedKinds } from './limited-kinds.js';
import { printableWord } from './printable-word.js';
import type { Tokens } from './tokens.js';

const LONGEST_NAME = 64;
const MOST_NAMES = 20;
const Admin = shape({ username: printableWord().max(255) });
const Token = shape({
  name: printableWord().max(LONGEST_NAME),
  digest: printableWord().pattern(/^[0-9a-f]{64}$/, 'SHA-256 in hex'),
  createdAt: int().min(0),
  expiresAt: int().min(0),
}).unknown(true);

export class Arrivals implements AccessArrivalsApi {
  readonly #admins: Admins;
  readonly #tokens: Tokens;
  readonly #kinds: LimitedKinds;

  constructor({ admins, tokens, kinds }: { admins: Admins; tokens: Tokens; kinds: LimitedKinds }) {
    this.#admins = admins;
    this.#tokens = tokens;
    this.#kinds = kinds;
  }

  hasAdmin(username: string): Promise<boolean> {
    return this.#admins.has(username);
  }

  adminProblem(username: string, bcryptHash: string): string | undefined {
    const found = inspect(Admin, { username });
    if ('issues' in found) return sentenceOf(found.issues);
    return isBcrypt(bcryptHash) ? undefined : errors.NOT_BCRYPT.text;
  }

  async addAdmin(username: string, bcryptHash: string, who: Principal): Promise<void> {
    const problem = this.adminProblem(username, bcryptHash);
    if (problem !== undefined) throw errors.NOT_BCRYPT(problem, { path: 'username' });
    await this.#admins.addOlder(username, bcryptHash, who);
  }

  hasToken(digest: string): boolean {
    return this.#tokens.has(digest);
  }

  tokenProblem(older: OlderToken): string | undefined {
    const found = inspect(Token, older);
    if ('issues' in found) return sentenceOf(found.issues);
    try {
      this.#kinds.requireKnown(older.kind);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  async addToken(older: OlderToken, who: Principal): Promise<string> {
    this.#kinds.requireKnown(older.kind);
    for (let number = 1; ; number++) {
      const end = number === 1 ? '' : ` (${number})`;
      const name = `${older.name.slice(0, LONGEST_NAME - end.length)}${end}`;
      try {
        await this.#tokens.adopt({ ...older, name }, who);
        return name;
      } catch (error) {
        const isTaken = error instanceof PanelError && error.code === errors.TOKEN_NAME_TAKEN.code;
        if (!isTaken || number === MOST_NAMES) throw error;
      }
    }
  }
}
