// Settings over the API: read all of them, update some.
import { createHmac } from 'node:crypto';
import {
  type Database,
  type Hooks,
  inspect,
  type Issue,
  kernelErrors,
  sentenceOf,
} from '../../kernel/index.js';
import {
  beforeSettingsSave,
  composeDefaultSettings,
  composeSettingsReply,
  settingChanges,
  type SettingsCaller,
} from './contract.js';
import { errors } from './errors.js';
import type { PanelIdentity } from './identity.js';
import { RecordVersions } from '../record-versions/contract.js';
import { clearOf, flagOf } from './secret-flags.js';
import type { SettingsStore } from './store.js';

/** What a fresh panel generates, in the list of its values. */
const RANDOM = '<random>';
/** Settings that every page needs, whichever plugin declares them. */
const SHOWN = ['pageSize', 'expireDiff', 'trafficDiff', 'datepicker', 'subDomain', 'subTitle'];

export interface SettingsUpdate {
  /** names of the settings that have another value now */
  readonly changed: readonly string[];
  readonly reply: Record<string, unknown> | null;
}
const UNCHANGED: SettingsUpdate = { changed: [], reply: null };

export class SettingsService {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #store: SettingsStore;

  /** of all settings together, by their values */
  readonly versions: RecordVersions<ReadonlyMap<string, unknown>>;

  constructor({
    db,
    hooks,
    store,
    identity,
  }: { db: Database; hooks: Hooks; store: SettingsStore; identity: PanelIdentity }) {
    this.versions = new RecordVersions(
      (values) => {
        // Secrets count as well, and a version must not help to guess them.
        const factOf = (name: string): unknown => {
          const value = values.get(name);
          return store.known(name)?.secret && value !== ''
            ? createHmac('sha256', identity.salt).update(JSON.stringify(value)).digest('hex')
            : value;
        };
        return store.names().map((name) => [name, factOf(name)]);
      },
      { isLive: true },
    );
    this.#db = db;
    this.#hooks = hooks;
    this.#store = store;
  }

  /** Returns the values in force; secrets are blank and have a flag; `pinned` maps settings of the environment to their variables. */
  all(): Record<string, unknown> & { readonly version: string } {
    const values: Record<string, unknown> = {};
    const pinned: Record<string, string> = {};
    for (const name of this.#store.names()) {
      const known = this.#store.known(name);
      if (!known) continue;
      values[name] = known.secret ? '' : known.value;
      if (known.secret) values[flagOf(name)] = known.value !== '';
      if (known.variable) pinned[name] = known.variable;
    }
    const known = new Map(this.#store.names().map((name) => [name, this.#store.known(name)?.value]));
    return { ...values, pinned, version: this.versions.of(known) };
  }

  /** Changes the settings that are sent; checks all of them before it writes any. Returns what changed, and what plugins add to the reply. */
  async update(body: Readonly<Record<string, unknown>>, who: SettingsCaller): Promise<SettingsUpdate> {
    const changes = await this.plan(body, who);
    if (Object.keys(changes).length === 0) return UNCHANGED;
    const { hosts: _hosts, ...principal } = who;
    await this.#db.write(async (tx) => {
      await this.versions.check(() => this.#store.stored(tx));
      await this.#store.save(tx, changes, principal);
    });
    const told = await this.#hooks.compose(composeSettingsReply, { changes, who });
    return {
      changed: Object.keys(changes),
      reply: told.length > 0 ? Object.assign({}, ...told.map(({ entry }) => entry)) : null,
    };
  }

  /** Those of these values that differ from the values in force, each checked as `update` checks it. Throws KERNEL_INVALID or PINNED; no guard runs. */
  differing(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return this.#checked(this.#byOwnNames(body));
  }

  /** What `update` would write, after all checks: new values by name. Rejects as `update` does. */
  async plan(
    body: Readonly<Record<string, unknown>>,
    who: SettingsCaller,
  ): Promise<Readonly<Record<string, unknown>>> {
    const sent = this.#byOwnNames(body);
    const direct = this.#checked(sent);
    if (Object.keys(direct).length === 0) return direct;
    const changes = this.#hooks.refine(settingChanges, direct, undefined, (next) =>
      this.#unfit(direct, next),
    );
    if (Object.keys(changes).length === 0) return changes;
    const values = Object.fromEntries(
      this.#store
        .names()
        .map((name) => [name, name in changes ? changes[name] : this.#store.known(name)?.value]),
    );
    await this.#hooks.check(beforeSettingsSave, { changes, values, sent, who });
    return changes;
  }

  /** The values that differ from those in force. Throws KERNEL_INVALID with all that is wrong, or PINNED. */
  #checked(sent: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const issues: Issue[] = [];
    const pinned: Issue[] = [];
    const direct: Record<string, unknown> = {};
    for (const name of this.#store.names()) {
      const known = this.#store.known(name);
      const cleared = known?.secret === true && clearOf(name) in sent ? sent[clearOf(name)] : false;
      if (typeof cleared !== 'boolean') {
        const path = clearOf(name);
        issues.push({ path, message: `${path} must be a boolean` });
        continue;
      }
      if (!known || (!(name in sent) && !cleared)) continue;
      // `all` returned a blank secret, so it means "unchanged".
      if (known.secret && sent[name] === '' && !cleared) continue;
      const result = inspect(known.schema.label(name), cleared ? '' : sent[name]);
      if ('issues' in result) {
        issues.push(...result.issues.map(({ path, message }) => ({ path: path || name, message })));
      } else if (JSON.stringify(result.value) !== JSON.stringify(known.value)) {
        if (known.variable)
          pinned.push({
            path: name,
            message: `${name} is set by ${known.variable} in the environment; change it there`,
          });
        direct[name] = result.value;
      }
    }
    const all = [...issues, ...pinned];
    const text = sentenceOf(all);
    if (issues.length > 0) throw kernelErrors.INVALID(text, { issues: all });
    if (pinned.length > 0) throw errors.PINNED(text, { issues: pinned });
    return direct;
  }

  /** A setting that was sent by its name and by its alias has the value of its name. */
  #byOwnNames(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const sent = { ...body };
    for (const name of this.#store.names()) {
      const { alias } = this.#store.known(name) ?? {};
      if (alias !== undefined && alias in body && !(name in body)) sent[name] = body[alias];
    }
    return sent;
  }

  /** Returns why changes cannot be saved after a tap has edited them. */
  #unfit(
    direct: Readonly<Record<string, unknown>>,
    next: Readonly<Record<string, unknown>>,
  ): string | undefined {
    for (const [name, value] of Object.entries(next)) {
      if (name in direct && direct[name] === value) continue;
      const known = this.#store.known(name);
      if (!known) return `there is no setting ${name}`;
      if (known.variable) return `${name} is set by ${known.variable} in the environment`;
      const result = inspect(known.schema.label(name), value);
      if ('issues' in result) return sentenceOf(result.issues);
    }
    return undefined;
  }

  /** Returns the values of a new panel as texts, without secrets; those that it generates are `<random>`. */
  factoryDefaults(): Record<string, string> {
    const shown = this.#store.names().filter((name) => this.#store.known(name)?.secret === false);
    return Object.fromEntries(
      shown.map((name) => {
        if (this.#store.isGenerated(name)) return [name, RANDOM];
        const value = this.#store.initial(name);
        return [name, typeof value === 'string' ? value : JSON.stringify(value)];
      }),
    );
  }

  /** Returns what a page needs first: values in force, and what other plugins add. */
  async defaultSettings(host: string): Promise<Record<string, unknown>> {
    const entries = await this.#hooks.compose(composeDefaultSettings, { host });
    const known = SHOWN.filter((name) => this.#store.known(name)).map((name) => [
      name,
      this.#store.known(name)?.value,
    ]);
    return Object.assign({}, ...entries.map(({ entry }) => entry), Object.fromEntries(known)) as Record<
      string,
      unknown
    >;
  }
}
