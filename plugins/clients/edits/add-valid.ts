// Adds a list of clients: an invalid item is skipped with its reason, and the others are added.
import {
  findUnknownKeys,
  inspectInSlices,
  kernelErrors,
  type Principal,
  type Schema,
  TimeSlice,
  sentenceOf,
} from '../../../kernel/index.js';
import { AddClient } from '../model/schema.js';
import type { ClientService, Created, NewClientOptions, SkippedItem } from './client-service.js';

const emailOf = (item: unknown): string => {
  const email = (item as { client?: { email?: unknown } | null } | null)?.client?.email;
  return typeof email === 'string' ? email : '';
};

/** Validates each item, and adds those that are valid. */
export async function addValid(
  service: Pick<ClientService, 'addMany'>,
  items: readonly unknown[],
  who: Principal,
  schema: Schema<AddClient> = AddClient,
  { ignored, ...options }: NewClientOptions & { readonly ignored?: Set<string> } = {},
): Promise<Created> {
  const valid: AddClient[] = [];
  const skipped: SkippedItem[] = [];
  const places: number[] = [];
  const slice = new TimeSlice();
  for (const [i, item] of items.entries()) {
    if (slice.isOver) await slice.next();
    const result = await inspectInSlices(schema, item);
    if (ignored) await findUnknownKeys(schema, item, ignored, '[]');
    if ('value' in result) {
      valid.push(result.value);
      places.push(i);
    } else
      skipped.push({
        index: i,
        email: emailOf(item),
        reason: sentenceOf(result.issues) + result.more,
        code: kernelErrors.INVALID.code,
      });
  }
  const whole = (outcome: Created): Created => ({
    ...outcome,
    skipped: [
      ...skipped,
      ...outcome.skipped.map((entry) => ({ ...entry, index: places[entry.index] ?? entry.index })),
    ],
  });
  return whole(
    await service.addMany(valid, who, { ...options, note: (facts) => options.note?.(whole(facts)) }),
  );
}
