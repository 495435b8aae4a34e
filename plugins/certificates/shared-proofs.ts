// Proofs of names, told to the other panels of this database: the names may lead an authority to any of their machines.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, messageOf, type PluginContext } from '../../kernel/index.js';
import type { PanelsApi } from '../cluster/contract.js';
import type { CaCalls } from './ca-calls.js';
import { inDatabase } from './ca-problem.js';
import type { CertificatePairs, NameProof, Pair } from './certificate-pairs.js';
import type { Answerable, Answering, ChallengeAnswers } from './challenge-answers.js';

/** The others know of a change within a second, and open their ports then. */
const OTHERS_ANSWER_MS = 2_000;

export class SharedProofs {
  readonly #log: Log;
  readonly #signal: AbortSignal;
  readonly #pairs: CertificatePairs;
  readonly #answers: ChallengeAnswers;
  readonly #calls: CaCalls;
  readonly #panels: PanelsApi | undefined;
  /** what other panels have told, as text, with what ends the answers */
  readonly #answered = new Map<string, AbortController>();

  constructor(needs: {
    log: Log;
    signal: PluginContext['signal'];
    pairs: CertificatePairs;
    answers: ChallengeAnswers;
    calls: CaCalls;
    panels: PanelsApi | undefined;
  }) {
    this.#log = needs.log;
    this.#signal = needs.signal;
    this.#pairs = needs.pairs;
    this.#answers = needs.answers;
    this.#calls = needs.calls;
    this.#panels = needs.panels;
  }

  /** Answers for this order, here and in the other panels. */
  of(order: string): Answering {
    // This panel may have answered for it, and goes on with it now.
    this.follow();
    return {
      during: (challenge, answers, signal, work) =>
        this.#answers.during(challenge, answers, signal, () => this.#told(order, answers, signal, work)),
    };
  }

  async #told<T>(
    order: string,
    answers: readonly Answerable[],
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    if (!this.#panels || this.#panels.others.length === 0) return work();
    // Each panel makes a certificate of its own as proof: keys are not told.
    const told = answers.map(({ proof: _own, ...answer }): NameProof => answer);
    await inDatabase(this.#pairs.prove(order, told));
    try {
      await sleep(OTHERS_ANSWER_MS, undefined, { signal });
      return await work();
    } finally {
      // The end of the order says the same.
      await this.#pairs.prove(order, []).catch(() => undefined);
    }
  }

  /** Answers for what other panels order now, and for nothing else of theirs. */
  follow(): void {
    const open = new Map(
      this.#pairs
        .ofOthers()
        .flatMap((pair) =>
          pair.answers.length > 0 ? [[`${pair.id} ${JSON.stringify(pair.answers)}`, pair]] : [],
        ),
    );
    for (const [id, over] of this.#answered)
      if (!open.has(id)) {
        this.#answered.delete(id);
        over.abort();
      }
    for (const [id, pair] of open)
      if (!this.#answered.has(id)) {
        const over = new AbortController();
        this.#answered.set(id, over);
        void this.#answer(pair, AbortSignal.any([over.signal, this.#signal]));
      }
  }

  async #answer({ answers: told, panel }: Pair, over: AbortSignal): Promise<void> {
    const isOver: Promise<unknown> = over.aborted ? Promise.resolve() : once(over, 'abort');
    const challenge = told[0]?.challenge ?? 'http-01';
    let end: (() => void) | undefined;
    try {
      end = this.#answers.put(challenge === 'http-01' ? told : await this.#withProofs(told));
      await this.#answers.during(challenge, [], over, () => isOver);
    } catch (error) {
      if (!over.aborted)
        this.#log.warn(
          'the port for an order of another panel is not open here; names must lead to that one',
          {
            panel,
            reason: messageOf(error),
          },
        );
      // A listener of the panel may still be asked, such as by a balancer.
      await isOver;
    } finally {
      end?.();
    }
  }

  async #withProofs(told: readonly NameProof[]): Promise<readonly Answerable[]> {
    const { crypto } = await this.#calls.library();
    const key = await crypto.createPrivateEcdsaKey('P-256');
    const answers: Answerable[] = [];
    for (const one of told) {
      const authorization = { identifier: { type: 'dns', value: one.name } } as Parameters<
        typeof crypto.createAlpnCertificate
      >[0];
      const [own, cert] = await crypto.createAlpnCertificate(authorization, one.keyAuthorization, key);
      answers.push({ ...one, proof: { key: String(own), cert: String(cert) } });
    }
    return answers;
  }
}
