// Checks, saves and brings back templates. A template with which the core does not run is rolled back.
import {
  type Database,
  type Issue,
  type Log,
  messageOf,
  type Principal,
  SerialQueue,
  type Tx,
} from '../../kernel/index.js';
import type { Applied, CorePreview, EngineApi, JsonObject } from '../engine/contract.js';
import type { CoreTemplateApi } from './contract.js';
import { errors } from './errors.js';
import { partsOf } from './template-parts.js';
import { FIELD } from './read-template.js';
import { type StoredTemplate, type TemplateStore, textOf } from './template-store.js';

interface Needs {
  readonly db: Database;
  readonly engine: EngineApi;
  readonly store: TemplateStore;
  readonly log: Log;
  readonly self: Principal;
  readonly settings: { read(): { readonly outboundTestUrl: string } };
}
/** What is to be saved. */
export interface Sent {
  readonly template: JsonObject;
  readonly note: string;
  /** written in the same transaction */
  readonly also?: (tx: Tx) => Promise<void>;
}
export interface TemplatePreview extends Omit<CorePreview, 'problems'> {
  readonly issues: readonly Issue[];
  readonly notes: readonly string[];
}

const PLUGIN = 'core-template';

export class TemplateService implements CoreTemplateApi {
  readonly #needs: Needs;
  /** Two templates at once would both be tested against the same one. */
  readonly #queue = new SerialQueue();
  /** the template with which the core had failed when `settle` looked last */
  #failedWith: number | undefined;

  constructor({ db, engine, store, log, self, settings }: Needs) {
    this.#needs = { db, engine, store, log, self, settings };
  }

  testUrl(): string {
    return this.#needs.settings.read().outboundTestUrl;
  }

  read(): JsonObject {
    return JSON.parse(this.#needs.store.current.body) as JsonObject;
  }

  isDefault(): boolean {
    return this.#needs.store.current.id === 0;
  }

  change(edit: (template: JsonObject) => JsonObject, who: Principal, note: string): Promise<string> {
    return this.#queue.run(() => this.#save({ template: edit(this.read()), note }, who));
  }

  save(sent: Sent, who: Principal): Promise<string> {
    return this.#queue.run(() => this.#save(sent, who));
  }

  /** What this template would do; changes nothing. */
  async preview(template: JsonObject): Promise<TemplatePreview> {
    const { parts, issues, notes } = partsOf(template);
    const { problems, ...preview } = await this.#ask(parts.map(({ part }) => part));
    const found = problems.map(({ part, reason }) => {
      const path = parts.find((placed) => placed.part === part)?.path ?? FIELD;
      return { path, message: `${path}: ${reason}` };
    });
    return { ...preview, issues: [...issues, ...found], notes };
  }

  async #ask(parts: Parameters<EngineApi['preview']>[1]): Promise<CorePreview> {
    try {
      return await this.#needs.engine.preview(PLUGIN, parts);
    } catch (cause) {
      throw errors.NOT_TESTED(`${errors.NOT_TESTED.text}: ${messageOf(cause)}`, { cause });
    }
  }

  async #save({ template, note, also }: Sent, who: Principal): Promise<string> {
    const { db, engine, store } = this.#needs;
    const { issues, notes, tested } = await this.preview(template);
    if (issues.length > 0)
      throw errors.INVALID(`nothing was saved: ${issues[0]?.message ?? ''}`, { issues: issues.slice(0, 50) });
    const before = store.current;
    const ran = engine.status().state === 'running';
    const body = textOf(template);
    const stored = await db.write(async (tx) => {
      await store.checkVersion(tx);
      await also?.(tx);
      return body === before.body ? before : store.add(tx, body, who, note, false);
    });
    const applied = await engine.reconcileConfig();
    const state = engine.status();
    if (stored !== before && (applied.rejected || (ran && state.state !== 'running'))) {
      await this.#rollBack(before, applied.reason || state.errorMsg);
      throw errors.ROLLED_BACK(`${errors.ROLLED_BACK.text}: ${applied.reason || state.errorMsg}`);
    }
    if (!applied.pending && !stored.proved) await db.write((tx) => store.prove(tx, stored));
    return said(applied, notes, tested);
  }

  /**
   * Settles a template that has not been seen in a running core: notes that it is in force, or brings back the last one
   * that was, when the core has failed twice in a row. A job calls it; between two calls the engine has tried again to
   * start the core, so its first failure may be that of a core without this template.
   */
  settle(): Promise<void> {
    return this.#queue.run(async () => {
      const { db, engine, store } = this.#needs;
      const { current } = store;
      if (current.proved) return;
      const { state, errorMsg } = engine.status();
      const hadFailed = this.#failedWith === current.id;
      this.#failedWith = state === 'error' ? current.id : undefined;
      if (state === 'error' && hadFailed) return this.#rollBack(await store.lastProved(), errorMsg);
      if (state !== 'running') return;
      const { change } = await engine.preview(
        PLUGIN,
        store.parts.parts.map(({ part }) => part),
      );
      if (change === 'none') await db.write((tx) => store.prove(tx, current));
    });
  }

  async #rollBack(to: StoredTemplate, reason: string): Promise<void> {
    const { db, engine, store, log, self } = this.#needs;
    const { id } = store.current;
    log.error('the core does not run with the new template; the previous one is back', { id, reason });
    const note = `back to the template ${to.id}, as the core did not run with ${id}: ${reason}`;
    await db.write((tx) => store.add(tx, to.body, self, note.slice(0, 1000), true));
    const { pending } = await engine.reconcileConfig();
    // The engine tries to start a core that failed after a pause; with the previous template it may start now.
    if (pending && engine.status().state === 'error') await engine.restart(note).catch(() => undefined);
  }
}

function said({ pending, reason }: Applied, notes: readonly string[], tested: boolean): string {
  const done = pending
    ? `the template is saved; the core does not have it yet: ${reason}`
    : tested
      ? 'the template is saved and in force'
      : 'the template is saved; there is no core that could test it';
  return [done, ...notes].join('; ');
}
