// What a client has used, in an archive.
import type { ClientRow } from '../model/row.js';

const FIELDS = ['up', 'down', 'lastOnline', 'lastSubFetch', 'resetCount'] as const;

/** Bytes over all inbounds, times in Unix ms, renewals so far. */
export type UsageRecord = Pick<ClientRow, (typeof FIELDS)[number]>;

/** Whether a value of an archive is one: safe integers from zero. */
export const isUsage = (value: unknown): value is UsageRecord =>
  typeof value === 'object' &&
  value !== null &&
  FIELDS.every((name) => {
    const number = (value as Record<string, unknown>)[name];
    return Number.isSafeInteger(number) && (number as number) >= 0;
  });

/** Why a value cannot be one; none at all is no usage. */
export const whyNotUsage = (value: unknown): string | undefined =>
  value === undefined || isUsage(value)
    ? undefined
    : `usage: ${FIELDS.join(', ')} must be whole numbers from 0 on`;
