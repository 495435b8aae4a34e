// The reader with the readers of this tree, without a panel.
import type { contribute, Contributed } from '../../../kernel/index.js';
import plugin from '../index.js';
import { LinkReaderService } from '../service.js';
import type { SchemeReader } from '../contract.js';

export const faults: unknown[] = [];

export function readerWith(...others: readonly SchemeReader[]): LinkReaderService {
  const own = (plugin as unknown as { contributes(): ReturnType<typeof contribute>[] }).contributes();
  const all = [...own.map(({ value }: { value: unknown }) => value as SchemeReader), ...others];
  const contributed = all.map(
    (value): Contributed<SchemeReader> => ({
      plugin: 'test',
      value,
      fault: (_where, error) => void faults.push(error),
    }),
  );
  return new LinkReaderService({ contributions: (() => contributed) as never });
}
