// The settings of all plugins as rows of a page: which are shown, which were changed, what is sent.
import { fieldsOf, type FormField, type JsonSchema, type Values } from '../forms/schema.js';
import { isShown } from '../forms/values.js';

export interface PluginSettings {
  readonly name: string;
  readonly about: string;
  readonly settings: JsonSchema;
}
export interface SettingRow {
  readonly plugin: string;
  readonly section: string;
  readonly field: FormField;
}
/** All settings, those that differ from their default, or those that most panels need. */
export type Extent = 'usual' | 'all' | 'differing';
/** What was typed for a secret: a new one, or that it is cleared. */
export interface SecretChange {
  readonly text: string;
  readonly isCleared: boolean;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const rowsOf = (plugins: readonly PluginSettings[]): SettingRow[] =>
  plugins.flatMap(({ name, settings }) =>
    fieldsOf(settings).map((field) => ({ plugin: name, section: field.words.section ?? name, field })),
  );

/** Whether it has another value than a new panel; of what a new panel makes itself, nobody knows. */
export const differs = ({ field: { name, schema } }: SettingRow, values: Values): boolean =>
  schema.default !== undefined && !isSame(values[name], schema.default);

const hasWords = (texts: readonly (string | undefined)[], search: string): boolean => {
  const text = texts.join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

/** Whether the row has each word in a name, a title or its description. */
export const matches = ({ plugin, section, field }: SettingRow, search: string): boolean =>
  hasWords([field.name, field.title, field.schema.description, section, plugin], search);

/** 0 if the words are in what the setting is called, 1 if they are only in what is said of it. */
const distance = ({ field }: SettingRow, search: string): number =>
  Number(!hasWords([field.name, field.title], search));

export interface Looked {
  readonly search: string;
  readonly extent: Extent;
  readonly values: Values;
  /** names of settings that are shown in any case: they were changed, or refused */
  readonly touched: ReadonlySet<string>;
}

/** A search finds all settings. Without one, settings that mean nothing beside the others are left out. */
export function shownRows(rows: readonly SettingRow[], looked: Looked): SettingRow[] {
  const { search, extent, values, touched } = looked;
  return rows.filter((row) => {
    if (touched.has(row.field.name)) return true;
    if (extent === 'differing' && !differs(row, values)) return false;
    if (search.trim() !== '') return matches(row, search.trim());
    if (extent === 'differing') return true;
    return isShown(row.field, values) && (extent === 'all' || row.field.words.level !== 'advanced');
  });
}

export interface SettingSection {
  readonly key: string;
  readonly title: string;
  readonly plugin: string;
  readonly rows: readonly SettingRow[];
}

/** By section, in the order of the titles; what a search means by its name comes first. Two plugins may have sections of the same title. */
export function sectionsOfRows(rows: readonly SettingRow[], search = ''): SettingSection[] {
  const near = new Map(rows.map((row) => [row, distance(row, search.trim())]));
  const nearest = (own: readonly SettingRow[]) => Math.min(...own.map((row) => near.get(row) ?? 1));
  const sections = new Map<string, SettingRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.section, row.plugin]);
    sections.set(key, [...(sections.get(key) ?? []), row]);
  }
  return [...sections]
    .map(([key, own]) => ({
      key,
      title: own[0]?.section ?? '',
      plugin: own[0]?.plugin ?? '',
      rows: [...own].sort((a, b) => nearest([a]) - nearest([b])),
    }))
    .sort(
      (a, b) =>
        nearest(a.rows) - nearest(b.rows) ||
        a.title.localeCompare(b.title) ||
        a.plugin.localeCompare(b.plugin),
    );
}

function blankOf({ input, schema }: FormField): unknown {
  if (input === 'list' || schema.type === 'array') return [];
  return schema.type === 'object' ? {} : '';
}

/** What was typed, after a field of a form changed its values. A field that was emptied is sent blank, and not left out. Never secrets: this goes into the draft. */
export function typedAfter(
  rows: readonly SettingRow[],
  typed: Values,
  { before, after }: { readonly before: Values; readonly after: Values },
): Values {
  const changed = rows
    .filter(({ field: { name, words } }) => !words.secret && !isSame(before[name], after[name]))
    .map(({ field }) => [field.name, after[field.name] ?? blankOf(field)]);
  return { ...typed, ...Object.fromEntries(changed) };
}

/** Body of `setting/update`: only what differs from the settings in force, and no setting that cannot be changed here. */
export function sentOf(
  rows: readonly SettingRow[],
  {
    stored,
    typed,
    secrets,
    fixed,
  }: {
    readonly stored: Values;
    readonly typed: Values;
    readonly secrets: Readonly<Record<string, SecretChange>>;
    readonly fixed: ReadonlySet<string>;
  },
): Values {
  const sent: Record<string, unknown> = {};
  for (const { field } of rows) {
    const { name, words } = field;
    if (fixed.has(name)) continue;
    const secret = secrets[name];
    if (words.secret) {
      if (secret?.isCleared && words.clear !== undefined) sent[words.clear] = true;
      else if (secret && secret.text !== '') sent[name] = secret.text;
    } else if (Object.hasOwn(typed, name) && !isSame(typed[name], stored[name])) sent[name] = typed[name];
  }
  return sent;
}

/** Names of the settings that a body changes. */
export const namesIn = (rows: readonly SettingRow[], sent: Values): ReadonlySet<string> =>
  new Set(
    rows
      .map(({ field }) => field)
      .filter(({ name, words }) => name in sent || (words.clear !== undefined && words.clear in sent))
      .map(({ name }) => name),
  );

/** `backupRecipients[0]` as `backupRecipients`. */
export const settingOf = (path: string): string => path.split(/[.[]/, 1)[0] ?? '';

/** Where the page is after the base path has changed; undefined where a proxy in front gives it another path. */
export function movedPage(page: URL, before: string, after: string): URL | undefined {
  const end = 'panel/';
  return page.pathname === `${before}${end}` ? new URL(`${after}${end}`, page) : undefined;
}
