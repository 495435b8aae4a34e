// Makes the sentences: finds the message of a language, fills in values, falls back to English.
import { IntlMessageFormat } from 'intl-messageformat';
import type { Contributed, PluginContext } from '../../../kernel/index.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../../settings/contract.js';
import {
  type NotifiedEvent,
  type TextArguments,
  type Texts,
  type TextValue,
  type TranslatedTexts,
  Translations,
} from '../contract.js';
import { cleanText, fitted } from './clean-value.js';
import { OWN_TEXTS, type OwnText } from './own-texts.js';
import { selectorsOf } from './template-check.js';

export interface Rendered {
  readonly title: string;
  readonly text: string;
}
export type TextsOfEvent = Pick<NotifiedEvent<never>, 'name' | 'titles' | 'texts' | 'items'>;
type Values = Readonly<Record<string, TextValue>>;
/** A message that was parsed. Values in `chosenBy` decide between texts and are not shown. */
interface Message {
  readonly format: (values: Values) => unknown;
  readonly chosenBy: ReadonlySet<string>;
}

/** Most items of a list in a text; the data has all of them. */
const NAMED = 5;
const LONGEST_TEXT = 2_000;
const LONGEST_TITLE = 200;
/** Of the text of one event within a summary. */
const LONGEST_LATEST = 500;
const RIGHT_TO_LEFT = /^(?:ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)(?:-|$)/i;

export class TextRenderer {
  readonly #contributions: PluginContext['contributions'];
  readonly #settings: SettingsApi;
  readonly #messages = new Map<string, Message | Error>();
  #translations: Map<string, Contributed<TranslationOf>> | undefined;

  constructor({
    contributions,
    panel,
  }: { contributions: PluginContext['contributions']; panel: SettingsApi }) {
    this.#contributions = contributions;
    this.#settings = panel;
  }

  /** Never throws: a message that cannot be filled in is replaced by the English one, and that by the title. */
  event(event: TextsOfEvent, language: string, args: TextArguments): Rendered {
    const title = this.#fill(event.name, 'title', event.titles, language, {}) ?? event.name;
    const lists = this.#lists(event, language, args);
    const text = this.#fill(
      event.name,
      'text',
      event.texts,
      language,
      { ...args, ...lists },
      Object.keys(lists),
    );
    return { title: fitted(title, LONGEST_TITLE), text: fitted(text ?? title, LONGEST_TEXT) };
  }

  own(name: OwnText, language: string, args: Values = {}): Rendered {
    const { title, text } = OWN_TEXTS[name];
    const values = { ...args };
    // Made of sentences that were cleaned when they were made.
    const ready = ['title', 'latest'].filter((key) => key in values);
    if (typeof values['latest'] === 'string') values['latest'] = fitted(values['latest'], LONGEST_LATEST);
    return {
      title: this.#fill(name, 'title', title, language, values, ready) ?? name,
      text: fitted(this.#fill(name, 'text', text, language, values, ready) ?? name, LONGEST_TEXT),
    };
  }

  #lists(event: TextsOfEvent, language: string, args: TextArguments): Record<string, string> {
    const lists: Record<string, string> = {};
    for (const [name, value] of Object.entries(args)) {
      if (!Array.isArray(value)) continue;
      const texts = event.items?.[name];
      const shown = value
        .slice(0, NAMED)
        .map((item: Values) => (texts && this.#fill(event.name, name, texts, language, item)) ?? '?');
      if (value.length > NAMED) shown.push(this.own('more', language, { count: value.length - NAMED }).text);
      lists[name] = new Intl.ListFormat(this.#known(language), { type: 'conjunction' }).format(shown);
    }
    return lists;
  }

  /** `part` is title, text, or the name of a list. `ready` are values that are sentences already. */
  #fill(
    event: string,
    part: string,
    texts: Texts,
    language: string,
    values: TextArguments,
    ready: readonly string[] = [],
  ): string | undefined {
    for (const [locale, template, fault] of this.#candidates(event, part, texts, language)) {
      try {
        const message = this.#message(locale, template);
        const filled = message.format(cleanValues(values, locale, message.chosenBy, ready));
        if (typeof filled === 'string') return filled;
      } catch (error) {
        fault?.(`the text ${part} of ${event} in ${locale}`, error);
      }
    }
    return undefined;
  }

  *#candidates(
    event: string,
    part: string,
    texts: Texts,
    language: string,
  ): Generator<readonly [string, string, Contributed<unknown>['fault'] | undefined]> {
    for (const tag of tagsOf(language)) {
      const added = this.#added().get(tag);
      const translated = added && partOf(added.value.events[event], part);
      if (translated !== undefined)
        yield [added?.value.language ?? tag, translated, this.#once(added, event, part)];
      const own = (texts as Partial<Record<string, string>> & Texts)[tag];
      if (own !== undefined) yield [tag, own, undefined];
    }
    yield ['en', texts.en, undefined];
  }

  readonly #reported = new Set<string>();
  /** A wrong message is reported once, or a flood of events would switch its plugin off. */
  #once(added: Contributed<unknown> | undefined, event: string, part: string) {
    const key = `${added?.plugin} ${event} ${part}`;
    if (!added || this.#reported.has(key)) return undefined;
    return (where: string, error: unknown): void => {
      this.#reported.add(key);
      added.fault(where, error);
    };
  }

  #added(): ReadonlyMap<string, Contributed<TranslationOf>> {
    return (this.#translations ??= new Map(
      this.#contributions(Translations).map((entry) => [entry.value.language.toLowerCase(), entry]),
    ));
  }

  /** The first of its tags in which there is anything to say. */
  #known(language: string): string {
    return tagsOf(language).find((tag) => this.#added().has(tag) || tag in OWN_TEXTS.test.text) ?? 'en';
  }

  #message(locale: string, template: string): Message {
    const key = `${locale} ${template}`;
    let message = this.#messages.get(key);
    if (!message) this.#messages.set(key, (message = this.#parse(locale, template)));
    if (message instanceof Error) throw message;
    return message;
  }

  #parse(locale: string, template: string): Message | Error {
    try {
      const message = new IntlMessageFormat(template, locale, undefined, {
        ignoreTag: true,
        formatters: {
          getNumberFormat: (tags, options) =>
            new Intl.NumberFormat(tags, options as Intl.NumberFormatOptions),
          getPluralRules: (...args) => new Intl.PluralRules(...args),
          // The time zone is a setting that may change.
          getDateTimeFormat: (tags, options) =>
            new Intl.DateTimeFormat(tags, { ...options, timeZone: this.#timeZone() }),
        },
      });
      return {
        format: (values) => message.format(values),
        chosenBy: selectorsOf(message),
      };
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #timeZone(): string | undefined {
    return timeZoneOf(this.#settings.read(panelSettings).timeLocation);
  }
}
type TranslationOf = {
  readonly language: string;
  readonly events: Readonly<Record<string, TranslatedTexts>>;
};

/** `zh-Hant-TW` is looked for as `zh-hant-tw`, `zh-hant` and `zh`. */
function tagsOf(language: string): string[] {
  const tag = language.toLowerCase().replaceAll('_', '-');
  return tag.split('-').map((_, at, all) => all.slice(0, all.length - at).join('-'));
}

function partOf(texts: TranslatedTexts | undefined, part: string): string | undefined {
  if (part === 'title' || part === 'text') return texts?.[part];
  return texts?.items?.[part];
}

function cleanValues(
  values: TextArguments,
  locale: string,
  chosenBy: ReadonlySet<string>,
  ready: readonly string[],
): Values {
  const clean: Record<string, TextValue> = {};
  const isRightToLeft = RIGHT_TO_LEFT.test(locale);
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'number' || value instanceof Date) clean[name] = value;
    else if (ready.includes(name)) clean[name] = String(value);
    else {
      const text = cleanText(String(value));
      // An email within Persian would otherwise take the marks around it to its other side.
      clean[name] = isRightToLeft && !chosenBy.has(name) ? `\u2068${text}\u2069` : text;
    }
  }
  return clean;
}
