// Asks the panel for a value of a field: a key, an id, a path.
import type { Generator, Values } from './schema.js';
import { withPath } from './values.js';

type Reply = Readonly<Record<string, unknown>>;

/** What to send, of the fields beside the one that gets the value. */
export const sentBy = ({ send = {} }: Generator, values: Values): Values =>
  Object.fromEntries(
    Object.entries(send).flatMap(([name, field]) =>
      values[field] === undefined ? [] : [[name, values[field]]],
    ),
  );

/** The items among which somebody chooses; undefined where there is no choice. */
export const choicesOf = ({ choose }: Generator, reply: unknown): readonly Reply[] | undefined =>
  choose && ((reply as Reply)[choose.from] as readonly Reply[] | undefined);

/** Puts a reply, or the chosen item of it, into the fields. A reply that is one text fills a single field. */
export const filledBy = ({ fills }: Generator, values: Values, reply: unknown): Values =>
  Object.entries(fills).reduce(
    (filled, [path, key]) =>
      withPath(filled, path, typeof reply === 'object' && reply !== null ? (reply as Reply)[key] : reply),
    values,
  );
