// What calls of the script are about, and what they change.
import type { Act, Part, World } from '../act.js';
import type { Fields } from '../stored.js';

export const AT_ONCE = 12;
export const BASES = ['base-1', 'base-2'];

export const baseIds = (world: World): (string | number)[] =>
  BASES.map((name) => world.ids.of(`inbound/${name}`));
export const some = ({ random, named }: World, most = AT_ONCE): string[] => {
  const all = named('client', 'c-');
  const from = random.below(Math.max(1, all.length - most));
  return all.slice(from, from + 1 + random.below(most));
};
export const one = (world: World): string | undefined => world.random.pick(world.named('client', 'c-'));
export const each = (
  emails: readonly string[],
  change: Fields | undefined,
): Record<string, Fields | undefined> =>
  Object.fromEntries(emails.map((email) => [`client/${email}`, change]));
/** Names of the inbounds that each is attached to afterwards. */
export const attached = (
  { stored }: World,
  emails: readonly string[],
  change: (names: readonly string[]) => readonly string[],
): Record<string, Fields> =>
  Object.fromEntries(
    emails.map((email) => {
      const { inbounds = [] } = (stored.get(`client/${email}`) ?? {}) as {
        readonly inbounds?: readonly string[];
      };
      return [`client/${email}`, { inbounds: [...new Set(change(inbounds))].sort() }];
    }),
  );
export const gone = (emails: readonly string[]) => ({
  ...each(emails, undefined),
  ...Object.fromEntries(emails.map((email) => [`addresses/${email}`, undefined])),
});

export const edit = (route: string, make: (emails: string[], world: World) => Act): Part => ({
  route: `POST ${route}`,
  make: (world) => {
    const emails = some(world);
    return emails.length > 0 ? make(emails, world) : undefined;
  },
});
