// Parses the messages of a language at the build, so that the parser is not part of the page.
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@formatjs/icu-messageformat-parser';

const LANGUAGE = /[/\\]language[/\\]texts[/\\]\w+\.json(?<part>\?later)?$/;
/** Texts that neither the login, nor the dashboard, nor what is around a page says. Titles are in the menu. */
const LATER =
  /^(?:api|audit|backups|factor|forms|groupRoles|groups|hosts|inbounds|logins|logs|nodes|passkeys|preview|resellers|routing|settings|subscription)\.(?!title$)/;
/** Types of what a parsed message consists of: 0 is plain text. */
const TEXT = 0;

/** `first`: what the first load has; `later`: the rest. */
export const partOf = (key) => (LATER.test(key) ? 'later' : 'first');

/** A message without parameters stays a text; of any other, what was parsed. */
export function parsedMessages(texts) {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => {
      const parts = parse(text, { captureLocation: false, requiresOtherClause: true });
      if (parts.every(({ type }) => type === TEXT)) return [key, parts.map(({ value }) => value).join('')];
      return [key, parts];
    }),
  );
}

export const messages = () => ({
  name: 'weir-messages',
  enforce: 'pre',
  config: () => ({
    resolve: {
      alias: [
        // The formatter imports a parser, which it does not need for messages that are parsed.
        {
          find: /^@formatjs\/icu-messageformat-parser$/,
          replacement: fileURLToPath(import.meta.resolve('@formatjs/icu-messageformat-parser/no-parser.js')),
        },
      ],
    },
  }),
  transform(code, id) {
    const found = LANGUAGE.exec(id);
    if (!found) return undefined;
    const part = found.groups.part ? 'later' : 'first';
    try {
      const texts = Object.entries(JSON.parse(code)).filter(([key]) => partOf(key) === part);
      const text = JSON.stringify(JSON.stringify(parsedMessages(Object.fromEntries(texts))));
      return { code: `export default JSON.parse(${text});`, moduleType: 'js', map: null };
    } catch (error) {
      throw new Error(`${basename(id)}: ${error.message}`, { cause: error });
    }
  },
});
