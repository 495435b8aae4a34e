import {
  anything,
  definePlugin,
  kernelErrors,
  mapOf,
  payload,
  type Principal,
  route,
  shape,
  singleton,
  tap,
} from '../../kernel/index.js';
import { duringAdminSave } from '../access/contract.js';
import { errors } from './errors.js';
import { PreferenceStore } from './preference-store.js';
import { migrations, tables } from './tables.js';

const MOST_CHANGES = 50;
const NAME = /^[a-z][A-Za-z0-9.-]{0,63}$/;
const LONGEST_VALUE = 8192;

const Preferences = mapOf(anything().description('any JSON'));
const Changes = shape({
  changes: mapOf(anything().description('any JSON of at most 8,192 characters; null removes it')).description(
    'by name: a small letter, then letters, digits, `.` and `-`, at most 64; 50 at most in one call',
  ),
}).example({ changes: { theme: 'dark', 'clients.columns': ['email', 'used'], tour: null } });

/** What is wrong with a preference, behind its name. */
function problemOf(name: string, value: unknown): string | undefined {
  if (!NAME.test(name)) return 'a name is a small letter, then at most 63 letters, digits, dots and hyphens';
  const { length } = JSON.stringify(value);
  if (length <= LONGEST_VALUE) return undefined;
  return `it has ${length} characters as JSON; at most ${LONGEST_VALUE} are allowed`;
}

/** Throws KERNEL_INVALID, which names the preference. */
function check(changes: Readonly<Record<string, unknown>>): void {
  const entries = Object.entries(changes);
  if (entries.length > MOST_CHANGES)
    throw kernelErrors.INVALID(`changes has ${entries.length} names; at most ${MOST_CHANGES} are allowed`, {
      path: 'changes',
    });
  for (const [name, value] of entries) {
    const problem = problemOf(name, value);
    const path = `changes.${name.slice(0, 64)}`;
    if (problem !== undefined) throw kernelErrors.INVALID(`${path}: ${problem}`, { path });
  }
}

/** Throws NO_ADMIN for all that is no session of an admin. */
function adminOf({ kind, name }: Principal): string {
  if (kind !== 'session') throw errors.NO_ADMIN();
  return name;
}

export default definePlugin({
  name: 'preferences',
  version: '0.1.0',
  api: 1,
  about: 'Stores how each admin likes a page to be.',
  tables,
  migrations,
  services: { store: singleton(PreferenceStore) },
  taps: ({ store }) => [tap(duringAdminSave, ({ changes }, tx) => store.adminsSaved(changes, tx))],
  routes: ({ store }) => [
    route({
      method: 'GET',
      path: '/panel/api/x/preferences',
      name: 'preferences.get',
      doc: 'Returns the preferences of the admin who asks, by name. The panel stores them for pages and does not use them.',
      reply: payload(Preferences),
      errors: [errors.NO_ADMIN],
      handle: ({ who }) => store.of(adminOf(who)),
    }),
    route({
      method: 'POST',
      path: '/panel/api/x/preferences',
      name: 'preferences.set',
      doc: 'Sets or removes some preferences of the admin who asks, all of them or none; returns all that he has. Names that are not sent stay.',
      body: Changes,
      reply: payload(Preferences),
      errors: [errors.NO_ADMIN, errors.TOO_MANY],
      handle: async ({ body: { changes }, who }) => {
        const username = adminOf(who);
        check(changes);
        await store.change(username, changes);
        return store.of(username);
      },
    }),
  ],
});
