// Codes for an admin whose authenticator is lost: each replaces a two-factor code once. Only digests are stored.
import { hash, randomInt } from 'node:crypto';
import type { Database, Principal, Tx } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { KnownAdmin } from './known-admin.js';
import type { AccessTables } from './tables.js';

/** Crockford's base32: no letter looks like a digit. https://www.crockford.com/base32.html */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CODES = 10;
/** 60 random bits: a digest cannot be searched for its code. */
const LENGTH = 12;

const digestOf = (code: string): string => hash('sha256', code);
const fresh = (): string =>
  Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
const shown = (code: string): string => code.replaceAll(/.{4}(?=.)/g, '$&-');
/** Normalises a typed code: capitals, groups, letters that look like digits. */
const plain = (typed: string): string =>
  typed.replaceAll(/[\s-]/g, '').toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');

export class RecoveryCodes {
  readonly #db: Database;
  readonly #rows: AccessTables['recoveryCodes'];

  readonly #audit: AuditTrailApi | undefined;

  constructor({
    db,
    tables: { recoveryCodes },
    audit,
  }: { db: Database; tables: AccessTables; audit?: AuditTrailApi | undefined }) {
    this.#audit = audit;
    this.#db = db;
    this.#rows = recoveryCodes;
  }

  /** Whether a text has the form of a recovery code; a two-factor code never has. */
  isOne(typed: string): boolean {
    return plain(typed).length === LENGTH;
  }

  left(adminId: number): Promise<number> {
    return this.#rows.count({ where: { adminId } });
  }

  /** Replaces all codes of an admin with new ones; they are shown here and never again. */
  async replace(tx: Tx, { id: adminId, username }: KnownAdmin, who: Principal): Promise<string[]> {
    const codes = Array.from({ length: CODES }, fresh);
    await this.#rows.destroy({ where: { adminId }, transaction: tx.t });
    await this.#rows.bulkCreate(
      codes.map((code) => ({ adminId, digest: digestOf(code) })),
      { transaction: tx.t },
    );
    await this.#audit?.record(tx, 'recoveryCodes', who, [
      {
        kind: 'updated',
        name: username,
        id: adminId,
        before: { secret: 'before' },
        after: { secret: 'after' },
      },
    ]);
    return codes.map(shown);
  }

  /** Uses up a code; returns false if this admin has no such code. */
  spend(adminId: number, typed: string): Promise<boolean> {
    return this.#db.write(async (tx) => {
      const where = { adminId, digest: digestOf(plain(typed)) };
      return (await this.#rows.destroy({ where, transaction: tx.t })) === 1;
    });
  }
}
