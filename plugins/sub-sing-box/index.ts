// Subscriptions as documents of sing-box.
import { bool, contribute, definePlugin, maybe, setting, urlPath, inSection } from '../../kernel/index.js';
import { orRemote, RemoteTexts, RemoteTextSources, textOf } from '../remote-texts/contract.js';
import { Formats, checkedText, type ListFormat, randomPath } from '../subscription/contract.js';
import { defaultTemplate } from './default-template.js';
import { compileDocument, type WriteDocument } from './document.js';
import { formsFor } from './forms.js';
import { cannotWrite, compileOutbound } from './outbound.js';
import { readTemplate } from './template.js';
import { type Minor, minorOf } from './version.js';

const FORMAT = 'sing-box';
const LONGEST_TEMPLATE = 65_536;

export const singBoxSettings = inSection('sing-box', {
  subSingBoxEnable: setting(bool(), false, 'serve subscriptions as documents of sing-box'),
  subSingBoxPath: setting(urlPath().min(2).max(255), randomPath, 'path prefix of documents of sing-box', {
    when: { field: 'subSingBoxEnable' },
    level: 'advanced',
  }),
  subSingBoxTemplate: setting(
    checkedText(
      orRemote((value) => value !== '' && readTemplate(value)),
      LONGEST_TEMPLATE,
    ),
    '',
    'the document around the entries, as JSON or as the https URL of it; a group with "{all}" in its outbounds gets all entries; empty for the own one',
    { when: { field: 'subSingBoxEnable' }, level: 'advanced' },
  ),
});

/** With the first one at the end. */
const firstLast = <T>([first, ...others]: readonly T[]): T[] => [...others, first as T];

/** Documents of one template, by version; compiled at the first fetch after a change. */
class Documents {
  readonly #texts: () => string;
  #text: string | undefined;
  readonly #compiled = new Map<Minor, WriteDocument>();

  constructor(texts: () => string) {
    this.#texts = texts;
  }

  for(minor: Minor): WriteDocument {
    const now = this.#texts();
    if (now !== this.#text) {
      this.#compiled.clear();
      this.#text = now;
    }
    const known = this.#compiled.get(minor);
    if (known) return known;
    const compiled = compileDocument(now === '' ? defaultTemplate(minor) : readTemplate(now));
    this.#compiled.set(minor, compiled);
    return compiled;
  }
}

export default definePlugin({
  name: 'sub-sing-box',
  version: '0.1.0',
  api: 1,
  about: 'Subscriptions as documents of sing-box.',
  uses: { remote: maybe(RemoteTexts) },
  settings: singBoxSettings,
  contributes: ({ settings, remote }) => {
    const documents = new Documents(() =>
      textOf(remote, 'subSingBoxTemplate', settings.read().subSingBoxTemplate),
    );
    return [
      contribute(Formats, {
        name: FORMAT,
        contentType: 'application/json; charset=utf-8',
        prefix: () => (settings.read().subSingBoxEnable ? settings.read().subSingBoxPath : undefined),
        pathSetting: 'subSingBoxPath',
        uniqueNames: true,
        cannot: cannotWrite,
        compile: compileOutbound,
        note: (name) => JSON.stringify({ type: 'block', tag: name }),
        body: (written, { names, sources, agent }) => {
          const minor = minorOf(agent);
          // A selector begins with its first entry, and a note connects nowhere.
          const forms = sources[0]?.isNote
            ? formsFor(minor, firstLast(written), firstLast(names))
            : formsFor(minor, written, names);
          return documents.for(minor)(forms.entries, forms.names);
        },
      } satisfies ListFormat),
      contribute(RemoteTextSources, {
        setting: 'subSingBoxTemplate',
        value: () => settings.read().subSingBoxTemplate,
        maxBytes: LONGEST_TEMPLATE,
        check: (text) => void readTemplate(text),
      }),
    ];
  },
});
