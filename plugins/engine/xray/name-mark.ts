// The end of every user's name in the core. The core's log is a file of lines, and users may have line breaks written into
// it: their requests are in its messages as they are. The mark tells lines of the core from those; no user knows it.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { foldKey } from '../../core-guard/contract.js';
import type { Json, JsonObject, RouteQuestion } from '../driver.js';
import { isUserName } from '../users/user-name.js';
import type { EngineFolder } from './folder.js';

/** Letters that names have not, so that no pattern for a name fits the mark. */
const LETTERS = 'ghjkmnpqrstuvwxz';
const MARK = /^~[ghjkmnpqrstuvwxz]{16}$/;

/** Resolves with the mark of this folder: one for all its cores, as they append to one log. */
export async function markIn(folder: Pick<EngineFolder, 'mark' | 'write'>): Promise<string> {
  const known = await readFile(folder.mark, 'utf8').catch(() => '');
  if (MARK.test(known)) return known;
  const made = `~${Array.from(randomBytes(16), (byte) => LETTERS[byte % 16]).join('')}`;
  await folder.write(folder.mark, [made]);
  return made;
}

export class NameMark {
  /** of the core that runs; '' for one that an earlier version of the panel started */
  mark = '';

  marked(name: string): string {
    return name + this.mark;
  }

  /** Undefined for a name that the panel did not give. */
  plain(name: string): string | undefined {
    return name.endsWith(this.mark) ? name.slice(0, name.length - this.mark.length) : undefined;
  }

  /** A rule for users names them, or has patterns of names (app/router/condition.go UserMatcher); logins have no mark. */
  inRule(rule: JsonObject): JsonObject {
    if (this.mark === '') return rule;
    return Object.fromEntries(
      Object.entries(rule).map(([key, value]) => [
        key,
        foldKey(key) === 'user' ? this.#withMarked(value) : value,
      ]),
    );
  }

  inQuestion(question: RouteQuestion): RouteQuestion {
    const { user } = question;
    return isUserName(user) ? { ...question, user: this.marked(user) } : question;
  }

  #withMarked(users: Json): Json {
    const names = typeof users === 'string' ? users.split(',') : users;
    if (!Array.isArray(names)) return users;
    return (names as readonly Json[]).flatMap((name) => {
      if (typeof name !== 'string') return name;
      if (isUserName(name)) return [name, this.marked(name)];
      return /^regexp:.*\$$/.test(name) ? [name, name.replace(/\$$/, `${this.mark}$`)] : name;
    });
  }
}
