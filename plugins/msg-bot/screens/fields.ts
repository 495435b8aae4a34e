// The fields of a client that the bot changes: how a value is chosen, typed and stored.
import { Declined } from '../chat/screen.js';
import type { TextKey } from '../texts/en.js';
import type { Texts } from '../texts/texts.js';
import { numberOf } from './parts.js';
import { limit } from './views.js';

const GIB = 1024 ** 3;
const DAY_MS = 86_400_000;
const MOST_GB = 1_000_000;
const MOST_DAYS = 36_500;
const MOST_COMMENT = 500;
const MOST_EMAIL = 255;

/** Fields of a client, by their names there. */
export interface FieldValues {
  readonly totalGB?: number;
  readonly expiryTime?: number;
  readonly limitIp?: number;
  readonly limitHwid?: number;
  readonly tgId?: number;
  readonly comment?: string;
  readonly email?: string;
}
export interface ClientField {
  readonly label: TextKey;
  readonly ask: TextKey;
  /** values on buttons, in the unit that a user types; none: only typed */
  readonly choices: readonly number[];
  /** what is written on the button of a choice */
  choice(texts: Texts, value: number): string;
  /** Reads what was typed or chosen. Throws Declined. */
  read(text: string, now: number): FieldValues;
}

const days = (texts: Texts, value: number): string =>
  value === 0
    ? texts.plain('unlimited')
    : value < 0
      ? texts.plain('afterFirstUse', { days: -value })
      : texts.plain('days', { count: value });

function line(text: string, most: number): string {
  if (text.length > most || /[\r\n]/.test(text)) throw new Declined('tooLong', { most });
  return text;
}

export const FIELDS: Readonly<Record<string, ClientField>> = {
  traffic: {
    label: 'traffic',
    ask: 'askTraffic',
    choices: [0, 1, 5, 10, 20, 30, 50, 100, 200, 500],
    choice: (texts, value) => (value === 0 ? texts.plain('unlimited') : texts.bytes(value * GIB)),
    read: (text) => ({ totalGB: numberOf(text, 0, MOST_GB) * GIB }),
  },
  expiry: {
    label: 'expiry',
    ask: 'askExpiry',
    choices: [0, 7, 30, 60, 90, 180, 365, -7, -30, -90],
    choice: days,
    read: (text, now) => {
      const count = numberOf(text, -MOST_DAYS, MOST_DAYS);
      return { expiryTime: count > 0 ? now + count * DAY_MS : count * DAY_MS };
    },
  },
  ipLimit: {
    label: 'ipLimit',
    ask: 'askIpLimit',
    choices: [0, 1, 2, 3, 4, 5, 6, 8, 10],
    choice: limit,
    read: (text) => ({ limitIp: numberOf(text, 0, 10_000) }),
  },
  deviceLimit: {
    label: 'deviceLimit',
    ask: 'askDeviceLimit',
    choices: [0, 1, 2, 3, 4, 5, 6, 8, 10],
    choice: limit,
    read: (text) => ({ limitHwid: numberOf(text, 0, 10_000) }),
  },
  messengerId: {
    label: 'messengerId',
    ask: 'askMessengerId',
    choices: [],
    choice: limit,
    read: (text) => ({ tgId: numberOf(text, 0, Number.MAX_SAFE_INTEGER) }),
  },
  comment: {
    label: 'comment',
    ask: 'askComment',
    choices: [],
    choice: limit,
    read: (text) => ({ comment: text === '-' ? '' : line(text, MOST_COMMENT) }),
  },
};
/** Only of a new client. */
export const EMAIL_FIELD: ClientField = {
  label: 'email',
  ask: 'askEmail',
  choices: [],
  choice: limit,
  read: (text) => {
    if (text === '') throw new Declined('askEmail');
    return { email: line(text, MOST_EMAIL) };
  },
};

export function fieldOf(name: string | undefined): ClientField {
  const field = name !== undefined && Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (!field) throw new Declined('stopped');
  return field;
}
