// Settings over the API: read all of them, update some.
import { createHmac } from 'node:crypto';
import {
  type Database,
  type Hooks,
  inspect,
  type Issue,
  kernelErrors,
  type Principal,
  sentenceOf,
  type Tx,
} from '../../kernel/index.js';
import {
  beforeSettingsSave,
  composeDefaultSettings,
  composeSettingsReply,
  settingChanges,
  type SettingsCaller,
} from './contract.js';
import type { CallersOwn } from './callers-own.js';
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

type Values = Readonly<Record<string, unknown>>;
/** Changes after all checks. */
interface Prepared {
  /** of all callers together */
  readonly changes: Values;
  /** of this caller */
  readonly own: Values;
  /** writes those of this caller; returns what they add to the reply */
  readonly write: (tx: Tx) => Promise<Values>;
}

export class SettingsService {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #store: SettingsStore;
  readonly #own: CallersOwn;

  /** of all settings together, by their values */
  readonly versions: RecordVersions<ReadonlyMap<string, unknown>>;

  constructor({
    db,
    hooks,
    store,
    own,
    identity,
  }: { db: Database; hooks: Hooks; store: SettingsStore; own: CallersOwn; identity: PanelIdentity }) {
    this.versions = new RecordVersions(
      (values) => {
        // Secrets count as well, and a version must not help to guess them.
        const factOf = (name: string): unknown => {
          const value = values.get(name);
          return store.known(name)?.secret && value !== ''
            ? createHmac('sha256', identity.salt).update(JSON.stringify(value)).digest('hex')
            : value;
        };
        // What is pinned nobody changes here, and it differs between panels on one database.
        const names = store.names().filter((name) => store.known(name)?.variable === undefined);
        return Object.fromEntries(names.map((name) => [name, factOf(name)]));
      },
      { isLive: true },
    );
    this.#db = db;
    this.#hooks = hooks;
    this.#store = store;
    this.#own = own;
  }

  /** Returns the values in force for this caller; secrets are blank and have a flag; `pinned` maps settings of the environment to their variables. */
  async all(who: Principal): Promise<Record<string, unknown> & { readonly version: string }> {
    const inForce = await this.#inForce(who);
    const values: Record<string, unknown> = {};
    const pinned: Record<string, string> = {};
    for (const [name, value] of inForce) {
      const known = this.#store.known(name);
      values[name] = known?.secret ? '' : value;
      if (known?.secret) values[flagOf(name)] = value !== '';
      if (known?.variable) pinned[name] = known.variable;
    }
    return { ...values, pinned, version: this.versions.of(inForce) };
  }

  /** Changes the settings that are sent; checks all of them before it writes any. Returns what changed, and what plugins add to the reply. */
  async update(body: Values, who: SettingsCaller): Promise<SettingsUpdate> {
    const { changes, own, write } = await this.#prepare(body, who);
    const all = { ...changes, ...own };
    if (Object.keys(all).length === 0) return UNCHANGED;
    const { hosts: _hosts, ...principal } = who;
    const added = await this.#db.write(async (tx) => {
      await this.versions.check(async () => {
        const stored = await this.#store.stored(tx);
        return new Map([...stored, ...Object.entries(await this.#own.read(who, tx))]);
      });
      if (Object.keys(changes).length > 0) await this.#store.save(tx, changes, principal);
      return write(tx);
    });
    const told = await this.#hooks.compose(composeSettingsReply, { changes: all, who });
    const reply: Record<string, unknown> = Object.assign({}, ...told.map(({ entry }) => entry), added);
    return { changed: Object.keys(all), reply: Object.keys(reply).length > 0 ? reply : null };
  }

  /** Those of these values that differ from the values in force, each checked as `update` checks it. Throws KERNEL_INVALID or PINNED; no guard runs. */
  differing(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return this.#checked(this.#byOwnNames(body), this.#valuesWith({}));
  }

  /** What `update` would write, after all checks: new values by name. Rejects as `update` does. */
  async plan(body: Values, who: SettingsCaller): Promise<Values> {
    const { changes, own } = await this.#prepare(body, who);
    return { ...changes, ...own };
  }

  async #prepare(body: Values, who: SettingsCaller): Promise<Prepared> {
    const sent = this.#byOwnNames(body);
    const before = await this.#inForce(who);
    const direct = Object.entries(this.#checked(sent, before));
    const ownDirect = Object.fromEntries(direct.filter(([name]) => this.#own.has(name)));
    const shared = Object.fromEntries(direct.filter(([name]) => !this.#own.has(name)));
    const changes =
      Object.keys(shared).length === 0
        ? shared
        : this.#hooks.refine(settingChanges, shared, undefined, (next) => this.#unfit(shared, next));
    const all = { ...changes, ...ownDirect };
    const values = { ...Object.fromEntries(before), ...all };
    if (Object.keys(all).length > 0)
      await this.#hooks.check(beforeSettingsSave, { changes: all, values, sent, who });
    // Last: it may use up a code.
    return { changes, ...(await this.#own.prepare({ changes: ownDirect, values, sent, who })) };
  }

  async #inForce(who: Principal): Promise<ReadonlyMap<string, unknown>> {
    return this.#valuesWith(await this.#own.read(who));
  }

  #valuesWith(own: Values): ReadonlyMap<string, unknown> {
    return new Map(
      this.#store.names().map((name) => [name, name in own ? own[name] : this.#store.known(name)?.value]),
    );
  }

  /** The values that differ from those in force. Throws KERNEL_INVALID with all that is wrong, or PINNED. */
  #checked(sent: Values, before: ReadonlyMap<string, unknown>): Values {
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
      } else if (JSON.stringify(result.value) !== JSON.stringify(before.get(name))) {
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
  #byOwnNames(body: Values): Values {
    const sent = { ...body };
    for (const name of this.#store.names()) {
      const { alias } = this.#store.known(name) ?? {};
      if (alias !== undefined && alias in body && !(name in body)) sent[name] = body[alias];
    }
    return sent;
  }

  /** Returns why changes cannot be saved after a tap has edited them. */
  #unfit(direct: Values, next: Values): string | undefined {
    for (const [name, value] of Object.entries(next)) {
      if (name in direct && direct[name] === value) continue;
      const known = this.#store.known(name);
      if (!known || this.#own.has(name)) return `there is no setting ${name} of all callers`;
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
