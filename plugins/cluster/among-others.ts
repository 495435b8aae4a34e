// This panel among the others, for plugins.
import type { PanelsApi } from './contract.js';
import type { Member } from './member.js';
import type { Readiness } from './readiness.js';
import type { Roll } from './roll.js';

/** Without WEIR_CLUSTER. */
export const ALONE: PanelsApi = {
  leads: true,
  count: 1,
  others: [],
  number: 0,
  name: '',
  hasOwnCore: false,
  startsAgain: false,
};

export class AmongOthers implements PanelsApi {
  readonly #member: Pick<Member, 'leads' | 'hasEnded'>;
  readonly #readiness: Pick<Readiness, 'isLeaving'>;
  readonly #roll: Pick<Roll, 'others' | 'number'>;
  readonly name: string;
  readonly hasOwnCore: boolean;

  constructor(
    { name, hasOwnCore }: Pick<PanelsApi, 'name' | 'hasOwnCore'>,
    parts: {
      readonly member: Pick<Member, 'leads' | 'hasEnded'>;
      readonly roll: Pick<Roll, 'others' | 'number'>;
      readonly readiness: Pick<Readiness, 'isLeaving'>;
    },
  ) {
    this.name = name;
    this.hasOwnCore = hasOwnCore;
    this.#member = parts.member;
    this.#roll = parts.roll;
    this.#readiness = parts.readiness;
  }

  get leads(): boolean {
    return this.#member.leads;
  }
  get startsAgain(): boolean {
    return this.#member.hasEnded && !this.#readiness.isLeaving;
  }
  get count(): number {
    return this.#roll.others.length + 1;
  }
  get others(): readonly string[] {
    return this.#roll.others.map(({ name }) => name);
  }
  get number(): number {
    return this.#roll.number;
  }
}
