// This panel among the others, for plugins.
import type { PanelsApi } from './contract.js';
import type { Member } from './member.js';
import type { Roll } from './roll.js';

export class AmongOthers implements PanelsApi {
  readonly #member: Pick<Member, 'leads'>;
  readonly #roll: Pick<Roll, 'others' | 'number'>;
  readonly name: string;
  readonly hasOwnCore: boolean;

  constructor(
    { name, hasOwnCore }: Pick<PanelsApi, 'name' | 'hasOwnCore'>,
    member: Pick<Member, 'leads'>,
    roll: Pick<Roll, 'others' | 'number'>,
  ) {
    this.name = name;
    this.hasOwnCore = hasOwnCore;
    this.#member = member;
    this.#roll = roll;
  }

  get leads(): boolean {
    return this.#member.leads;
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
