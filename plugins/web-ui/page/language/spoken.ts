// The language that is spoken now, and its texts: those of the first pages at once, all before any other page is shown.
import type { Language } from './languages.js';
import type { Texts } from './messages.js';

export interface Spoken {
  readonly language: Language;
  readonly texts: Texts;
}
export type LoadTexts = (language: string, part: 'first' | 'later') => Promise<Texts>;

export class SpokenStore {
  readonly #load: LoadTexts;
  readonly #listeners = new Set<() => void>();
  #now: Spoken | undefined;
  #later: Promise<void> | undefined;
  #wanted: Language | undefined;

  constructor(load: LoadTexts) {
    this.#load = load;
  }

  /** Loads what the login and the dashboard say. */
  async start(language: Language): Promise<void> {
    this.#wanted = language;
    this.#now = { language, texts: await this.#load(language.key, 'first') };
  }

  readonly read = (): Spoken => {
    if (!this.#now) throw new Error('the texts of no language are loaded yet');
    return this.#now;
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Resolves when all texts are there; what failed is tried again by the next call. */
  readonly whole = (): Promise<void> => {
    this.#later ??= this.#loadLater().catch((error: unknown) => {
      this.#later = undefined;
      throw error;
    });
    return this.#later;
  };

  async #loadLater(): Promise<void> {
    const { language } = this.read();
    const texts = await this.#load(language.key, 'later');
    // Another language has all of its texts already.
    if (this.read().language === language)
      this.#show({ language, texts: { ...this.read().texts, ...texts } });
  }

  /** The language that is there stays until all texts of the other one are loaded. */
  async change(language: Language): Promise<void> {
    this.#wanted = language;
    if (this.read().language === language) return;
    const parts = await Promise.all([this.#load(language.key, 'first'), this.#load(language.key, 'later')]);
    // The last choice counts, whichever file comes first.
    if (this.#wanted !== language) return;
    this.#later = Promise.resolve();
    this.#show({ language, texts: { ...parts[0], ...parts[1] } });
  }

  #show(spoken: Spoken): void {
    this.#now = spoken;
    for (const listener of this.#listeners) listener();
  }
}
