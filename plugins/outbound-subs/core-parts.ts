// What the lists add to the core's config.
import { type CorePart, type JsonObject, OWN_OUTBOUNDS } from '../engine/contract.js';
import type { CoreTemplateApi } from '../core-template/contract.js';
import { MOST_OUTBOUNDS } from './list-reader.js';
import { outboundOf, type StoredOutbound } from './stored-outbound.js';
import type { Sub, SubStore } from './sub-store.js';

interface Plan {
  readonly list: readonly Sub[];
  /** of the list that comes first, if an admin said so */
  readonly standard: StoredOutbound | undefined;
  readonly others: readonly CorePart[];
  /** how many of a subscription are not in the core, as all lists have too many */
  readonly over: ReadonlyMap<number, number>;
}

export class CoreParts {
  readonly #store: SubStore;
  readonly #template: CoreTemplateApi | undefined;
  #known: Plan | undefined;

  constructor({ store, template }: { store: SubStore; template: CoreTemplateApi | undefined }) {
    this.#store = store;
    this.#template = template;
  }

  get #plan(): Plan {
    const list = this.#store.list();
    if (this.#known?.list !== list) this.#known = planOf(list);
    return this.#known;
  }

  /**
   * The outbound for what no rule takes; the first part that says so is it, so this one stands before the template. A tag
   * of the template is the template's.
   */
  standard(): CorePart[] {
    const { standard } = this.#plan;
    return standard && !this.templateTags().has(standard.tag)
      ? [{ outbound: outboundOf(standard), isDefault: true }]
      : [];
  }
  /** Behind all others, so that their tags are theirs. */
  others(): readonly CorePart[] {
    return this.#plan.others;
  }

  /** Tag of the outbound for what no rule takes; undefined when it is not of a list. */
  standardTag(): string | undefined {
    const [part] = this.standard();
    return part && 'outbound' in part ? String(part.outbound['tag']) : undefined;
  }
  /** How many of its outbounds are not in the core, as all lists together have too many. */
  over({ id }: Sub): number {
    return this.#plan.over.get(id) ?? 0;
  }

  /** Tags that are the template's, also where a list has them. */
  templateTags(): ReadonlySet<string> {
    const { outbounds = [] } = (this.#template?.read() ?? {}) as { outbounds?: readonly JsonObject[] };
    return new Set([...OWN_OUTBOUNDS, ...outbounds.map(({ tag }) => String(tag))]);
  }
}

function planOf(list: readonly Sub[]): Plan {
  const enabled = list.filter((sub) => sub.enabled);
  const ordered = [...enabled.filter(({ prepend }) => prepend), ...enabled.filter(({ prepend }) => !prepend)];
  let standard: StoredOutbound | undefined;
  for (const { prepend, defaultTag, outbounds } of ordered)
    if (prepend) standard ??= outbounds.find(({ tag }) => tag === defaultTag);
  const others: CorePart[] = [];
  const over = new Map<number, number>();
  let left = MOST_OUTBOUNDS - (standard ? 1 : 0);
  for (const { id, outbounds } of ordered) {
    const own = outbounds.filter((outbound) => outbound !== standard);
    others.push(...own.slice(0, left).map((outbound) => ({ outbound: outboundOf(outbound) })));
    if (own.length > left) over.set(id, own.length - left);
    left = Math.max(0, left - own.length);
  }
  return { list, standard, others, over };
}
