// The authorities of central panels that this panel trusts as a node, and callers with a certificate of one of them.
import { createHash, X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Clock, Database, Principal } from '../../../kernel/index.js';
import type { AuditTrailApi } from '../../audit/contract.js';
import type { PanelListenerApi } from '../../settings/contract.js';
import { errors } from '../errors.js';
import type { NodeTables } from '../tables.js';

const MOST = 16;
export const LONGEST_BUNDLE = 64 * 1024;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const BLOCK = /-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

const shown = ({ subject, fingerprint256 }: X509Certificate): string =>
  `${subject.replaceAll('\n', ', ')} (${fingerprint256})`;

/** Reads a strict bundle of authorities. Throws BAD_BUNDLE with what is wrong. */
export function authoritiesIn(pem: string, now: number): readonly X509Certificate[] {
  const bad = (why: string) => errors.BAD_BUNDLE(`caCert: ${why}`, { path: 'caCert' });
  const blocks = pem.match(BLOCK) ?? [];
  const rest = pem.replaceAll(BLOCK, '').trim();
  if (rest !== '' || (blocks.length === 0 && pem.trim() !== ''))
    throw bad('there is something in it that is not a certificate in PEM');
  if (blocks.length > MOST) throw bad(`it has ${blocks.length} certificates; at most ${MOST} are taken`);
  return blocks.map((block, i) => {
    let certificate: X509Certificate;
    try {
      certificate = new X509Certificate(block);
    } catch {
      throw bad(`certificate ${i + 1} cannot be read`);
    }
    if (!certificate.ca) throw bad(`certificate ${i + 1} is not of an authority: ${shown(certificate)}`);
    if (!certificate.checkIssued(certificate) || !certificate.verify(certificate.publicKey))
      throw bad(`certificate ${i + 1} is not signed by itself; send the root: ${shown(certificate)}`);
    if (Date.parse(certificate.validTo) <= now)
      throw bad(`certificate ${i + 1} has expired: ${shown(certificate)}`);
    return certificate;
  });
}

interface Needs {
  readonly db: Database;
  readonly tables: NodeTables;
  readonly clock: Clock;
  readonly listener: PanelListenerApi | undefined;
  readonly audit: AuditTrailApi | undefined;
}

export class TrustedCentrals {
  readonly #needs: Needs;
  #trusted: readonly X509Certificate[] = [];
  /** by connection, until the trusted ones change: checking a signature takes a tenth of a millisecond */
  #names = new WeakMap<object, string>();

  constructor({ db, tables, clock, listener, audit }: Needs) {
    this.#needs = { db, tables, clock, listener, audit };
  }

  async start(): Promise<void> {
    const row = await this.#needs.tables.trusted.findByPk('central');
    const pem = row?.get().pem ?? '';
    if (pem !== '') this.#use(pem);
  }

  #use(pem: string): boolean {
    // An expired one no longer opens anything, and must not keep the others out.
    this.#trusted = (pem.match(BLOCK) ?? []).map((block) => new X509Certificate(block));
    this.#names = new WeakMap();
    return this.#needs.listener?.askForCertificates(pem) ?? false;
  }

  list(): readonly X509Certificate[] {
    return this.#trusted;
  }

  /** Replaces what is trusted, at once; blank trusts nobody. Resolves with what an admin must know. */
  async trust(pem: string, who: Principal): Promise<string> {
    const { db, tables, clock, audit } = this.#needs;
    const trusted = authoritiesIn(pem, clock.now());
    const text = trusted.map((certificate) => certificate.toString()).join('');
    const before = { authorities: this.#trusted.map(shown) };
    await db.write(async (tx) => {
      await tables.trusted.upsert({ id: 'central', pem: text }, { transaction: tx.t });
      const change = {
        kind: 'updated',
        name: 'trusted centrals',
        before,
        after: { authorities: trusted.map(shown) },
      } as const;
      await audit?.record(tx, 'nodeTrust', who, [change]);
    });
    const isServed = this.#use(text);
    if (trusted.length === 0) return 'no central panel is trusted by certificate any more';
    return isServed
      ? `trusted: ${trusted.map(shown).join('; ')}`
      : 'stored; this panel serves plain HTTP, so a certificate can open it only when it serves HTTPS itself';
  }

  /** The name of the central panel that calls with a certificate of a trusted authority; undefined for others. */
  callerOf({ socket }: IncomingMessage): string | undefined {
    if (this.#trusted.length === 0 || !('encrypted' in socket)) return undefined;
    const known = this.#names.get(socket);
    const name = known ?? this.#nameOf(socket as TLSSocket);
    if (known === undefined) this.#names.set(socket, name);
    return name === '' ? undefined : name;
  }

  /** The connection may be older than the present trust, so the signature is checked here too. */
  #nameOf(socket: TLSSocket): string {
    const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
    if (!certificate?.keyUsage?.includes(CLIENT_AUTH)) return '';
    const now = this.#needs.clock.now();
    if (Date.parse(certificate.validTo) <= now) return '';
    const isTrusted = this.#trusted.some(
      (ca) => certificate.checkIssued(ca) && certificate.verify(ca.publicKey),
    );
    return isTrusted
      ? `central ${createHash('sha256').update(certificate.raw).digest('hex').slice(0, 16)}`
      : '';
  }
}
