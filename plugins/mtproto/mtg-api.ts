// The management API of mtg-multi. Source: README of github.com/mhsanaei/mtg-multi; the program of github.com/dolonet has
// only `GET /stats`.
import { TimeSlice } from '../../kernel/index.js';
import { userName, userOf, type UserRef } from '../engine/contract.js';
import type {
  ListedUser,
  ProgramReply,
  SidecarControl,
  SidecarInstance,
  SidecarUser,
  UserCounters,
} from '../sidecars/contract.js';
import { adTagOf, NOBODY, secretOf } from './mtg-config.js';

/** Changes of one edit that are calls of their own. */
const MOST_CALLS = 200;
/** Calls at once. */
const AT_ONCE = 8;
type Stats = Readonly<Record<string, { readonly bytes_in?: unknown; readonly bytes_out?: unknown } | null>>;

export class MtgApi implements SidecarControl {
  readonly users?: NonNullable<SidecarControl['users']>;
  readonly #instance: SidecarInstance;
  readonly #nobody: string;

  private constructor(instance: SidecarInstance, nobody: string, isLive: boolean) {
    this.#instance = instance;
    this.#nobody = nobody;
    if (isLive)
      this.users = {
        replace: (users) => this.#replace(users),
        change: (put, gone) => this.#change(put, gone),
        list: () => this.#list(),
        wholeFrom: MOST_CALLS,
      };
  }

  /** Finds out whether the program takes secrets while it runs. */
  static async open(instance: SidecarInstance, nobody: string): Promise<MtgApi> {
    const api = new MtgApi(instance, nobody, false);
    const { status } = await api.#call('GET', '/secrets');
    if (status !== 200 && status !== 404) throw new Error(`its API answers GET /secrets with ${status}`);
    return new MtgApi(instance, nobody, status === 200);
  }

  /** Reads counters without finding out anything else. */
  static read(instance: SidecarInstance): Promise<readonly UserCounters[]> {
    return new MtgApi(instance, '', false).read();
  }

  async read(): Promise<readonly UserCounters[]> {
    const { status, body } = await this.#call('GET', '/stats');
    const stats = (body as { users?: Stats } | undefined)?.users;
    if (status !== 200 || typeof stats !== 'object' || stats === null)
      throw new Error(`its API answers GET /stats with ${status} and no counters`);
    const counters: UserCounters[] = [];
    const slice = new TimeSlice();
    for (const [name, moved] of Object.entries(stats)) {
      if (slice.isOver) await slice.next();
      const ref = name === NOBODY ? undefined : userOf(name);
      // What is no number is named by who checks the counters.
      if (ref) counters.push({ ...ref, up: moved?.bytes_in as number, down: moved?.bytes_out as number });
    }
    return counters;
  }

  async #list(): Promise<ListedUser[]> {
    const { status, body } = await this.#call('GET', '/secrets');
    const secrets = (body as { secrets?: unknown } | undefined)?.secrets;
    if (status !== 200 || typeof secrets !== 'object' || secrets === null)
      throw new Error(`its API answers GET /secrets with ${status} and no secrets`);
    // Names, or names with what belongs to them.
    const names = Array.isArray(secrets) ? secrets.map(nameIn) : Object.keys(secrets);
    return names.filter((name) => name !== NOBODY).map((name) => ({ name }));
  }

  async #replace(users: readonly SidecarUser[]): Promise<void> {
    const secrets: Record<string, object> = { [NOBODY]: { secret: this.#nobody } };
    const slice = new TimeSlice();
    for (const user of users) {
      if (slice.isOver) await slice.next();
      secrets[user.name] = fieldsOf(user);
    }
    await this.#must('PUT', '/secrets', { secrets });
  }

  async #change(put: readonly SidecarUser[], gone: readonly UserRef[]): Promise<void> {
    // Who loses access goes first: a secret may pass from one client to another.
    await inPortions(gone, async (ref) => {
      const path = `/secrets/${userName(ref)}`;
      const { status } = await this.#call('DELETE', path);
      if (status !== 200 && status !== 204 && status !== 404)
        throw new Error(`its API answers DELETE ${path} with ${status}`);
    });
    await inPortions(put, (user) => this.#must('POST', '/secrets', { name: user.name, ...fieldsOf(user) }));
  }

  async #must(method: string, path: string, body: unknown): Promise<void> {
    const { status } = await this.#call(method, path, body);
    if (status < 200 || status > 299) throw new Error(`its API answers ${method} ${path} with ${status}`);
  }

  #call(method: string, path: string, body?: unknown): Promise<ProgramReply> {
    const { call, secret } = this.#instance;
    return call('api', path, { method, body, headers: { authorization: `Bearer ${secret}` } });
  }
}

const nameIn = (entry: unknown): string =>
  typeof entry === 'string' ? entry : String((entry as { name?: unknown } | null)?.name);

const fieldsOf = (user: SidecarUser): object => {
  const tag = adTagOf(user);
  return { secret: secretOf(user), ...(tag !== undefined && { ad_tag: tag }) };
};

async function inPortions<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(items.slice(from, from + AT_ONCE).map(work));
}
