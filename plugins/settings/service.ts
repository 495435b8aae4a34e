// What the API does with settings: all of them at once, and partial updates.
import { after, type Database, type Hooks, inspect, type Issue, kernelErrors } from '../../kernel/index.js';
import { afterSettingsSave, beforeSettingsSave } from './contract.js';
import { errors } from './errors.js';
import type { SettingsStore } from './store.js';

/** Internal to this plugin: memory follows the commit before anybody else hears of it. */
export const afterValuesWritten = after<Readonly<Record<string, unknown>>>('settings/afterValuesWritten');

const flagOf = (name: string): string => `has${name[0]?.toUpperCase()}${name.slice(1)}`;
const clearOf = (name: string): string => `clear${name[0]?.toUpperCase()}${name.slice(1)}`;

export class SettingsService {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #store: SettingsStore;

  constructor({ db, hooks, store }: { db: Database; hooks: Hooks; store: SettingsStore }) {
    this.#db = db;
    this.#hooks = hooks;
    this.#store = store;
  }

  /** Effective values; secrets are blank and have a flag; `pinned` names what the environment holds. */
  all(): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    const pinned: string[] = [];
    for (const name of this.#store.names()) {
      const known = this.#store.known(name);
      if (!known) continue;
      values[name] = known.secret ? '' : known.value;
      if (known.secret) values[flagOf(name)] = known.value !== '';
      if (known.variable) pinned.push(name);
    }
    return { ...values, pinned };
  }

  /** Changes what is sent and leaves the rest; everything is checked before anything is written. */
  async update(sent: Readonly<Record<string, unknown>>): Promise<void> {
    const issues: Issue[] = [];
    const changes: Record<string, unknown> = {};
    for (const name of this.#store.names()) {
      const known = this.#store.known(name);
      const cleared = known?.secret === true && sent[clearOf(name)] === true;
      if (!known || (!(name in sent) && !cleared)) continue;
      // A blank secret is what `all` returned: it means "as it is".
      if (known.secret && sent[name] === '' && !cleared) continue;
      const result = inspect(known.schema.label(name), cleared ? '' : sent[name]);
      if ('issues' in result) {
        issues.push(...result.issues.map(({ path, message }) => ({ path: path || name, message })));
      } else if (JSON.stringify(result.value) !== JSON.stringify(known.value)) {
        if (known.variable) throw errors.PINNED(`${name} is set by ${known.variable} in the environment; change it there`, { path: name });
        changes[name] = result.value;
      }
    }
    if (issues.length > 0) throw kernelErrors.INVALID(issues.map((i) => i.message).join('; '), { issues });
    if (Object.keys(changes).length === 0) return;
    const values = Object.fromEntries(this.#store.names().map((name) => [name, name in changes ? changes[name] : this.#store.known(name)?.value]));
    await this.#hooks.check(beforeSettingsSave, { changes, values });
    await this.#db.write(async (tx) => {
      await this.#store.write(tx, changes);
      tx.after(afterValuesWritten, changes);
      tx.after(afterSettingsSave, { keys: new Set(Object.keys(changes)) });
    });
  }
}
