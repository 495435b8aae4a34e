// How much an inbound may hold.
import { holdsMoreThan, kernelErrors } from '../../kernel/index.js';

/** No core has a use for more, and every check of an inbound takes time for each value. */
const MOST_VALUES = 10_000;
const FIELDS = ['settings', 'streamSettings', 'sniffing'] as const;

/** Rejects with KERNEL_INVALID that names the field. Clients are to be taken out of `settings` before. */
export function refuseTooMuch(inbound: Readonly<Record<(typeof FIELDS)[number], unknown>>): void {
  for (const path of FIELDS)
    if (holdsMoreThan(inbound[path], MOST_VALUES))
      throw kernelErrors.INVALID(`${path} holds more than ${MOST_VALUES} values`, { path });
}
