// What the bot can do, in parts: each has commands, buttons, and questions that a text answers.
import type { Button } from '../api/bot-api.js';
import type { TextKey } from '../texts/en.js';
import type { Turn } from './turn.js';

export interface Screen {
  /** who may use it: admins, or also users to whom clients belong */
  readonly for: 'admin' | 'client';
  /** `/name rest` */
  readonly commands?: Readonly<Record<string, (turn: Turn, rest: string) => Promise<void>>>;
  /** buttons with the data `name:a:b` */
  readonly actions?: Readonly<Record<string, (turn: Turn, ...args: string[]) => Promise<void>>>;
  /** answers to a question that was opened with this step */
  readonly steps?: Readonly<
    Record<string, (turn: Turn, text: string, data: Readonly<Record<string, unknown>>) => Promise<void>>
  >;
}

/** A button with a text of the bot. Its data has at most 64 bytes: names and ids, never texts of clients. */
export const button = (turn: Turn, key: TextKey, ...data: readonly (string | number)[]): Button => ({
  text: turn.texts.plain(key),
  data: data.join(':'),
});

/** Something that the user asked for and that is not there, or not allowed: shown, and no fault. */
export class Declined extends Error {
  override readonly name = 'Declined';
  readonly key: TextKey;
  readonly values: Readonly<Record<string, string | number>>;

  constructor(key: TextKey, values: Readonly<Record<string, string | number>> = {}) {
    super(key);
    this.key = key;
    this.values = values;
  }
}

/** Digits of Persian and Arabic keyboards are digits too. */
export const withLatinDigits = (text: string): string =>
  text
    .replaceAll(/[\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) - 0x06f0))
    .replaceAll(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x0660))
    .replaceAll(/[\u2212\u2013]/g, '-');
