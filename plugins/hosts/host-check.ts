// Checks of what was sent, beyond the schemas of the routes. Nothing is written when one fails.
import { type Issue, kernelErrors, refuseHidden, sentenceOf } from '../../kernel/index.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { type HostAddress, hostText, parseHost } from './address.js';
import type { HostFields } from './fields.js';
import type { HostStore } from './host-store.js';
import type { HostWays } from './host-ways.js';
import { jsonIssues } from './json-texts.js';
import type { WantedRow } from './row-plan.js';

/** Most rows of one group, and most of one inbound: each is an entry in every subscription. */
const MOST_OF_GROUP = 5000;
const MOST_OF_INBOUND = 500;
/** Names of the API for formats, some of which other plugins add later. */
const SUB_TYPES = ['raw', 'json', 'alt'];
const NO_ADDRESS: HostAddress = { address: '', ownPort: null };

const refuse = (issues: readonly Issue[]): void => {
  if (issues.length > 0) throw kernelErrors.INVALID(sentenceOf(issues), { issues });
};

/** No text at all means the address of the inbound. */
export function addressesOf(texts: readonly string[]): HostAddress[] {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  const addresses = texts.flatMap((text, i) => {
    const parsed = parseHost(text);
    const path = `hosts.${i}`;
    if (typeof parsed === 'string') {
      issues.push({ path, message: `hosts[${i}] ${parsed}` });
      return [];
    }
    const name = hostText(parsed);
    if (seen.has(name)) issues.push({ path, message: `hosts[${i}] repeats the address "${text}"` });
    seen.add(name);
    return [parsed];
  });
  refuse(issues.slice(0, 50));
  return addresses.length === 0 ? [NO_ADDRESS] : addresses;
}

export class HostCheck {
  readonly #inbounds: InboundsApi;
  readonly #store: HostStore;
  readonly #ways: HostWays;

  constructor({ inbounds, store, ways }: { inbounds: InboundsApi; store: HostStore; ways: HostWays }) {
    this.#inbounds = inbounds;
    this.#store = store;
    this.#ways = ways;
  }

  /** Of fields that were sent; `before` has the values that are stored already. */
  fields(sent: Partial<HostFields>, before?: HostFields): void {
    if (sent.remark !== undefined && sent.remark !== before?.remark)
      refuseHidden('remark', sent.remark, 'label');
    const known = [...SUB_TYPES, ...this.#ways.formats(), ...(before?.excludeFromSubTypes ?? [])];
    refuse([
      ...jsonIssues(sent),
      ...(sent.excludeFromSubTypes ?? []).flatMap((name, i): Issue[] => {
        const path = `excludeFromSubTypes.${i}`;
        return known.includes(name)
          ? []
          : [
              {
                path,
                message: `excludeFromSubTypes[${i}]: there is no format ${name}; there are ${known.join(', ')}`,
              },
            ];
      }),
    ]);
  }

  /** Throws INBOUNDS_NOT_FOUND or KERNEL_INVALID. */
  rows(rows: readonly WantedRow[], inboundIds: readonly number[], groupId?: string): void {
    this.#inbounds.require(inboundIds, 'inboundIds');
    const perInbound = rows.length / inboundIds.length;
    const full = inboundIds.find((id) => this.#store.rowsIn(id, groupId) + perInbound > MOST_OF_INBOUND);
    if (rows.length > MOST_OF_GROUP)
      refuse([
        {
          path: 'hosts',
          message: `hosts: ${rows.length} rows (addresses times inbounds) are too many; a group holds ${MOST_OF_GROUP}`,
        },
      ]);
    if (full !== undefined)
      refuse([
        {
          path: 'hosts',
          message: `hosts: the inbound ${full} would have more than ${MOST_OF_INBOUND} hosts`,
        },
      ]);
  }

  /** What has no effect where it is set, for the message of the reply. */
  notes({ security }: HostFields, inboundIds: readonly number[]): string {
    if (security !== 'reality') return '';
    const others = inboundIds.filter((id) => {
      const { streamSettings } = this.#inbounds.get(id) ?? {};
      return streamSettings?.['security'] !== 'reality';
    });
    return others.length === 0
      ? ''
      : `; security reality means same at inbounds without REALITY (${others.slice(0, 10).join(', ')})`;
  }
}
