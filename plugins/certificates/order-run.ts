// One order at an authority, from the proof of the names to the chain. It begins wherever the order is, so that an order
// that a crash interrupted goes on.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { Authorization, Client, Order as CaOrder } from 'acme-client';
import type { Library } from './acme-library.js';
import { CaProblem, oneLine, type ProblemDocument, sentenceOf, typeOf } from './ca-problem.js';
import type { Answerable, Answering } from './challenge-answers.js';
import type { Challenge } from './fields.js';

const MOST_MS = 3 * 60_000;
const PAUSES_MS = [250, 500, 1000, 2000, 3000, 5000];

export interface OrderInput {
  readonly names: readonly string[];
  readonly challenge: Challenge;
  /** PEM */
  readonly key: string;
  /** of an order that began before; empty for a new one */
  readonly url: string;
  /** Called before anything is proved. */
  readonly confirmed: (url: string) => Promise<void>;
  readonly signal: AbortSignal;
}
interface Parts {
  readonly library: Library;
  readonly client: Client;
  readonly answers: Answering;
}

const lie = (what: string): CaProblem =>
  new CaProblem(`the authority sent a reply that cannot be used: ${what}`);

/** The library passes on whatever an authority sends as an order. */
function checked(order: CaOrder, names: readonly string[]): CaOrder {
  const { status, authorizations, identifiers, finalize } = (order ?? {}) as Partial<CaOrder>;
  if (typeof status !== 'string' || typeof finalize !== 'string') throw lie('an order without its state');
  if (!Array.isArray(authorizations) || !authorizations.every((url) => typeof url === 'string'))
    throw lie('an order without a list of authorizations');
  if (authorizations.length > names.length)
    throw lie(`an order for ${names.length} names with ${authorizations.length} authorizations`);
  const ordered = (Array.isArray(identifiers) ? identifiers : []).map((one) =>
    String(one?.value).toLowerCase(),
  );
  if (ordered.toSorted().join() !== [...names].sort().join()) throw lie('an order for other names');
  return order;
}

export class OrderRun {
  readonly #parts: Parts;
  readonly #input: OrderInput;

  constructor(parts: Parts, input: OrderInput) {
    this.#parts = parts;
    this.#input = input;
  }

  /** Resolves with the chain, as the authority sent it. Rejects with a CaProblem. */
  async run(): Promise<string> {
    const { client, library } = this.#parts;
    const { names, url, key, confirmed } = this.#input;
    let order =
      url === ''
        ? await client.createOrder({ identifiers: names.map((value) => ({ type: 'dns', value })) })
        : await this.#fetch(url);
    checked(order, names);
    if (url === '') await confirmed(order.url);
    if (order.status === 'pending') order = await this.#prove(order);
    if (order.status === 'ready') {
      const [, csr] = await library.crypto.createCsr({ altNames: [...names] }, key);
      order = await client.finalizeOrder(order, csr);
    }
    order = await this.#until(order, (status) => status === 'valid');
    if (typeof order.certificate !== 'string') throw lie('an order without its certificate');
    const chain: unknown = await client.getCertificate(order);
    if (typeof chain !== 'string') throw lie('no certificate in PEM');
    return chain;
  }

  async #fetch(url: string): Promise<CaOrder> {
    return checked(await this.#parts.client.getOrder({ url } as CaOrder), this.#input.names);
  }

  async #prove(order: CaOrder): Promise<CaOrder> {
    const { client, library, answers } = this.#parts;
    const { challenge, signal } = this.#input;
    const open = (await client.getAuthorizations(order)).filter(({ status }) => status !== 'valid');
    const chosen = open.map((authorization) => this.#challengeOf(authorization));
    const key = challenge === 'tls-alpn-01' ? await library.crypto.createPrivateEcdsaKey('P-256') : undefined;
    const answerable: Answerable[] = [];
    for (const [i, one] of open.entries()) answerable.push(await this.#answerOf(one, chosen[i], key));
    return answers.during(challenge, answerable, signal, async () => {
      // One that an interrupted order began is being proved already.
      for (const [i, one] of chosen.entries())
        if (one && (one.status === 'pending' || open[i]?.status === 'pending'))
          if (one.status !== 'processing') await client.completeChallenge(one);
      return this.#until(order, (status) => status !== 'pending');
    });
  }

  #challengeOf({ identifier, challenges, status }: Authorization): Authorization['challenges'][number] {
    const name = oneLine(String(identifier?.value));
    if (status !== 'pending') throw lie(`the proof of ${name} is ${oneLine(String(status))}`);
    const wanted = this.#input.challenge;
    const offered = Array.isArray(challenges) ? challenges.slice(0, 20) : [];
    const found = offered.find(({ type }) => type === wanted);
    if (!found)
      throw new CaProblem(
        `the authority offers no ${wanted} for ${name}; it offers ${oneLine(offered.map(({ type }) => String(type)).join(', ')) || 'nothing'}`,
      );
    if (typeof found.url !== 'string' || !/^[\w-]{1,512}$/.test(String(found.token)))
      throw lie('a challenge without its token');
    return found;
  }

  /** With the key of the certificates that prove names: by default the library makes RSA keys, and with 100 names files and the database would wait for them. */
  async #answerOf(
    authorization: Authorization,
    challenge: Authorization['challenges'][number] | undefined,
    alpnKey: Buffer | undefined,
  ): Promise<Answerable> {
    const { client, library } = this.#parts;
    if (!challenge) throw lie('an authorization without a challenge');
    const name = String(authorization.identifier.value).toLowerCase();
    const keyAuthorization = await client.getChallengeKeyAuthorization(challenge);
    const base = { challenge: this.#input.challenge, name, token: challenge.token, keyAuthorization };
    if (!alpnKey) return base;
    await turn();
    const { createAlpnCertificate } = library.crypto;
    const [key, cert] = await createAlpnCertificate(authorization, keyAuthorization, alpnKey);
    return { ...base, proof: { key: String(key), cert: String(cert) } };
  }

  /** Asks again and again. */
  async #until(order: CaOrder, isDone: (status: string) => boolean): Promise<CaOrder> {
    const end = Date.now() + MOST_MS;
    for (let asked = 0; ; asked++) {
      if (order.status === 'invalid') throw await this.#reason(order);
      if (isDone(order.status)) return order;
      if (Date.now() > end)
        throw new CaProblem(
          `the authority did not finish within ${MOST_MS / 60_000} minutes; the order is ${oneLine(String(order.status))}`,
          // It has the request and may still issue: the key must stay.
          { isTemporary: order.status === 'processing' },
        );
      await sleep(PAUSES_MS[Math.min(asked, PAUSES_MS.length - 1)], undefined, {
        signal: this.#input.signal,
      });
      order = await this.#fetch(order.url);
    }
  }

  /** An order says only that it failed; its authorizations say why. */
  async #reason(order: CaOrder): Promise<CaProblem> {
    // The library asks for all of them at once, and the reply to the request for the certificate was not checked.
    const asked = checked(order, this.#input.names);
    for (const { identifier, challenges } of await this.#parts.client.getAuthorizations(asked))
      for (const challenge of Array.isArray(challenges) ? challenges.slice(0, 20) : []) {
        const error = (challenge as { error?: ProblemDocument }).error;
        if (error)
          return new CaProblem(`${String(identifier?.value)}: ${sentenceOf(error)}`, { type: typeOf(error) });
      }
    const error = (order as { error?: ProblemDocument }).error;
    return error
      ? new CaProblem(sentenceOf(error), { type: typeOf(error) })
      : new CaProblem('the authority refused the order and gave no reason');
  }
}
