// One reading of the core's counters.
import { OWN_TAG_PREFIX } from '../../core-guard/contract.js';
import type { CoreCounters } from '../contract.js';
import type { CoreDriver, OutboundCounter } from '../driver.js';
import { countersOfUsers, USER_PREFIX } from '../users/user-name.js';

/** Reads the counters of users and outbounds, or only those of outbounds. */
export async function countersOf(
  driver: Pick<CoreDriver, 'counters' | 'outboundCounters'>,
  epoch: string,
  only?: 'outbounds',
): Promise<CoreCounters> {
  const [users, outbounds] = await Promise.all([
    only === 'outbounds' ? [] : driver.counters(USER_PREFIX),
    driver.outboundCounters(),
  ]);
  return { epoch, users: await countersOfUsers(users), outbounds: withoutOwn(outbounds) };
}

/**
 * An outbound for packets (`weir.udp.<tag>`) dials through the freedom `<tag>`, and the core counts the bytes of such a
 * connection at both: measured with Xray-core 26.3.27. So what the freedom counts is all that left through it.
 */
const withoutOwn = (outbounds: readonly OutboundCounter[]): OutboundCounter[] =>
  outbounds.filter(({ tag }) => !tag.startsWith(OWN_TAG_PREFIX));
