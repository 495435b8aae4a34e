// The template that the reader edits on all pages of routing: one draft, planned and applied at once. It has secrets, so
// it is in the memory of the page only.
import { changedFields, fieldsOf, joined } from './merge.js';
import { asText, isSame, type ListName, listOf, type Template, textsOf, withList } from './template.js';
import { type Choice, type Conflict, conflictsOf, merged, onlyTheirs } from '../parts/conflict.js';

export interface Saved {
  readonly template: Template;
  readonly version: string;
}
export interface Issue {
  readonly path: string;
  readonly message: string;
}
export interface DraftState {
  /** what the draft began with */
  readonly saved: Saved;
  readonly now: Template;
  /** what somebody else has saved meanwhile */
  readonly theirs: Saved | undefined;
  /** texts that are not JSON yet, by the place of the entry, such as `outbounds.2` */
  readonly broken: Readonly<Record<string, string>>;
  /** why the core cannot run the draft, as it was planned last */
  readonly issues: readonly Issue[];
}

/** Fields of a rule that are lists in the core. */
const LISTS = ['domain', 'ip', 'inboundTag', 'user', 'sourceIP', 'source', 'protocol'] as const;

/** Without the blank lines that somebody left in fields of several lines. */
export function tidied(template: Template): Template {
  const rules = listOf(template, 'rules').map((rule) => {
    const lists = LISTS.filter((name) => Array.isArray(rule[name]));
    const made: Record<string, unknown> = { ...rule };
    for (const name of lists) {
      const items = textsOf(rule[name]).map((item) => item.trim());
      const kept = items.filter((item) => item !== '');
      if (kept.length === 0) delete made[name];
      else made[name] = kept;
    }
    return made;
  });
  return rules.length > 0 && !isSame(rules, listOf(template, 'rules'))
    ? withList(template, 'rules', rules)
    : template;
}

export class TemplateDraft {
  #state: DraftState | undefined;
  readonly #listeners = new Set<() => void>();

  readonly state = (): DraftState | undefined => this.#state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  #enter(state: DraftState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
  #begin(saved: Saved): void {
    this.#enter({ saved, now: saved.template, theirs: undefined, broken: {}, issues: [] });
  }

  /** What the panel has. A draft with changes stays, and is joined with it when the reader says so. */
  meet(saved: Saved): void {
    const state = this.#state;
    if (saved.version === state?.saved.version) return;
    const isTyping = this.hasBroken;
    if (!state) this.#begin(saved);
    else if (isSame(saved.template, state.saved.template))
      this.#enter({ ...state, saved, theirs: undefined });
    else if (!isTyping && (isSame(state.now, state.saved.template) || isSame(state.now, saved.template)))
      this.#begin(saved);
    else this.#enter({ ...state, theirs: saved });
  }

  change(now: Template): void {
    if (this.#state) this.#enter({ ...this.#state, now, issues: [] });
  }
  changeList(name: ListName, change: (list: ReturnType<typeof listOf>) => ReturnType<typeof listOf>): void {
    if (this.#state) this.change(withList(this.#state.now, name, change(listOf(this.#state.now, name))));
  }
  /** @param text undefined when it is JSON again */
  setBroken(place: string, text: string | undefined): void {
    const state = this.#state;
    if (!state) return;
    const { [place]: _, ...others } = state.broken;
    this.#enter({ ...state, broken: text === undefined ? others : { ...others, [place]: text } });
  }
  /** Places of entries have changed, so texts that belong to one would belong to another. */
  get hasBroken(): boolean {
    return Object.keys(this.#state?.broken ?? {}).length > 0;
  }
  /** Whether something would be lost with the page. */
  get isChanged(): boolean {
    return this.hasBroken || (this.#state !== undefined && changesOf(this.#state).length > 0);
  }
  tell(issues: readonly Issue[]): void {
    if (this.#state) this.#enter({ ...this.#state, issues });
  }
  /** Returns what takes it back; that is false when something has been changed since. */
  discard(): () => boolean {
    const state = this.#state;
    if (!state) return () => false;
    this.#begin(state.theirs ?? state.saved);
    return () => {
      const since = this.#state;
      if (!since || this.isChanged) return false;
      this.#enter({ ...state, theirs: undefined });
      this.meet(since.saved);
      return true;
    };
  }
  /** Its secrets are not for who logs in next. */
  forget(): void {
    this.#state = undefined;
    for (const listener of this.#listeners) listener();
  }
  /** Takes an entry out; returns what puts it back at its place. */
  remove(name: ListName, at: number): () => void {
    const entry = this.#state && listOf(this.#state.now, name)[at];
    if (!entry) return () => undefined;
    this.changeList(name, (list) => list.toSpliced(at, 1));
    return () => this.changeList(name, (list) => list.toSpliced(Math.min(at, list.length), 0, entry));
  }
  /** The text to plan and to save. */
  text(): string {
    const state = this.#state;
    if (!state) throw new Error('there is no template');
    const now = tidied(state.now);
    if (now !== state.now) this.#enter({ ...state, now });
    return asText(now);
  }
  applied(): void {
    const state = this.#state;
    if (state) this.#begin({ template: state.now, version: '' });
  }

  conflicts(): { readonly conflicts: readonly Conflict[]; readonly kept: readonly string[] } {
    const state = this.#state;
    if (!state?.theirs) return { conflicts: [], kept: [] };
    const fields = fieldsOf(state.saved.template, state.now, state.theirs.template);
    return { conflicts: conflictsOf(...fields), kept: onlyTheirs(...fields) };
  }
  /** Goes on from what somebody else has saved, with the own changes above. */
  join(chosen: Readonly<Partial<Record<string, Choice>>>): void {
    const state = this.#state;
    if (!state?.theirs) return;
    const [before, mine, theirs] = fieldsOf(state.saved.template, state.now, state.theirs.template);
    const now = joined(merged(before, mine, theirs, chosen), state.now, state.theirs.template);
    this.#enter({ ...state, saved: state.theirs, now, theirs: undefined, issues: [] });
  }
}

export const changesOf = ({ saved, now }: DraftState): string[] => changedFields(saved.template, now);

/** Problems of an entry, by the path within it. */
export function issuesAt(issues: readonly Issue[], place: string): { path: string; message: string }[] {
  const prefix = `engineSetting.${place}`;
  return issues
    .filter(({ path }) => path === prefix || path.startsWith(`${prefix}.`))
    .map(({ path, message }) => ({
      path: path.slice(prefix.length + 1),
      message: message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message,
    }));
}
