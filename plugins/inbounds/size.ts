// Limits the size of an inbound.
import { holdsMoreThan, kernelErrors } from '../../kernel/index.js';
import { type Inbound, jsonNames } from './fields.js';

/** No core needs more, and each check of an inbound takes time for each value. */
const MOST_VALUES = 10_000;

/** Throws KERNEL_INVALID that names the field. Clients that programs send back in `settings` do not count. */
export function refuseTooMuch(inbound: Pick<Inbound, (typeof jsonNames)[number]>): void {
  for (const path of jsonNames) {
    const values: unknown[] = [];
    // Without a copy of the object: one of 100,000 keys takes 100 ms.
    for (const key in inbound[path]) {
      if (path !== 'settings' || key !== 'clients') values.push(inbound[path][key as never]);
      if (values.length > MOST_VALUES) break;
    }
    if (holdsMoreThan(values, MOST_VALUES))
      throw kernelErrors.INVALID(`${path} holds more than ${MOST_VALUES} values`, { path });
  }
}
