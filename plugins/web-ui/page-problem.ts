// Checks a page when a plugin declares it. The kernel adds the name of the plugin.
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import type { Contributed, Plugin } from '../../kernel/index.js';
import { patternProblem } from './call-pattern.js';
import type { PluginPage } from './contract.js';
import { PAGE_ICONS } from './page-icons.js';

const KEY = /^[a-z][a-z0-9-]{0,39}$/;
const LANGUAGE = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})?$/;
const ENTRY = /^[\w-][\w.-]{0,99}\.html$/;
const MOST_PAGES = 10;
const MOST_LANGUAGES = 40;
const MOST_TITLE = 40;
const MOST_CALLS = 50;
const MOST_PATTERN = 200;

function titleProblem(title: unknown): string | undefined {
  if (typeof title !== 'object' || title === null) return 'title must have a text for each language';
  const entries = Object.entries(title);
  if (!Object.hasOwn(title, 'en')) return 'title.en is missing';
  if (entries.length > MOST_LANGUAGES) return `title must have at most ${MOST_LANGUAGES} languages`;
  for (const [language, text] of entries) {
    if (!LANGUAGE.test(language)) return 'title must have the tags of languages as keys, such as en';
    if (typeof text !== 'string' || text.trim() === '' || text.length > MOST_TITLE)
      return `title.${language} must be a text of 1 to ${MOST_TITLE} characters`;
    if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\u200c', '')))
      return `title.${language} must have no invisible characters`;
  }
  return undefined;
}

function apiProblem(api: unknown): string | undefined {
  if (!Array.isArray(api) || api.length > MOST_CALLS)
    return `api must be a list of at most ${MOST_CALLS} calls`;
  for (const [at, pattern] of api.entries()) {
    const problem =
      typeof pattern !== 'string' || pattern.length > MOST_PATTERN
        ? `it must be a text of at most ${MOST_PATTERN} characters`
        : patternProblem(pattern);
    if (problem !== undefined) return `api[${at}] is no call: ${problem}`;
  }
  return undefined;
}

function folderProblem(folder: unknown, entry: unknown): string | undefined {
  if (typeof folder !== 'string' || !isAbsolute(folder))
    return "folder must be an absolute path: fileURLToPath(new URL('../page', import.meta.url))";
  if (typeof entry !== 'string' || !ENTRY.test(entry))
    return 'entry must be the name of an .html file in the folder';
  try {
    if (!lstatSync(folder).isDirectory()) return 'folder is not a folder';
    const file = realpathSync(join(folder, entry));
    if (file.startsWith(realpathSync(folder) + sep) && statSync(file).isFile()) return undefined;
    return 'entry must be a file in the folder';
  } catch {
    return 'folder has no such entry; name the folder in `files` of package.json, and build it first';
  }
}

export function pageProblem(
  { key, title, icon, folder, entry = 'index.html', api = [] }: PluginPage,
  { name: plugin }: Pick<Plugin, 'name'>,
  others: readonly Pick<Contributed<PluginPage>, 'plugin' | 'value'>[],
): string | undefined {
  if (typeof key !== 'string' || !KEY.test(key))
    return 'the key of a page must be 1 to 40 small letters, digits and -';
  const own = others.filter((other) => other.plugin === plugin);
  if (own.some(({ value }) => value.key === key)) return `the page ${key} is there twice`;
  if (own.length >= MOST_PAGES) return `a plugin has at most ${MOST_PAGES} pages`;
  const problem =
    titleProblem(title) ??
    (PAGE_ICONS.includes(icon) ? undefined : `icon must be one of ${PAGE_ICONS.join(', ')}`) ??
    folderProblem(folder, entry) ??
    apiProblem(api);
  return problem === undefined ? undefined : `the page ${key} is of no use: ${problem}`;
}
