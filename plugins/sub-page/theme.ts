// A page of the admin's own in place of ours: a file with the values of the subscription in it. It is read at the start,
// when its setting changes and once a minute, never for a request.
import { type LiveSettings, type Log, messageOf, setting, text, inSection } from '../../kernel/index.js';
import type { PageReply, PageView } from '../subscription/contract.js';
import { html } from './html.js';
import { readTheme } from './theme-file.js';

export const pageSettings = inSection(
  'Page for users',
  {
    subThemeDir: setting(
      text()
        .max(4096)
        .pattern(/^(?:\/[^\p{Cc}]*)?$/u, 'an absolute path'),
      '',
      'folder with a page of your own for browsers, sub.html or index.html; empty: the page of the panel',
    ),
  },
  { level: 'advanced' },
);

/** The page is one file: nothing is loaded, and nothing goes to another site. */
const HEADERS: PageReply['headers'] = Object.freeze([
  [
    'Content-Security-Policy',
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ['X-Robots-Tag', 'noindex, nofollow, noarchive'],
] as const);

/** What the page gets, as `window.__SUB_PAGE_DATA__` and as `{{ .name }}`. */
const dataOf = ({ status, links, state }: PageView) => ({
  ...status,
  state,
  links: links.map(({ link }) => link),
});
/** JSON in a script: no text of it may end the script. */
const inScript = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function fill(page: string, view: PageView): string {
  const data: Readonly<Record<string, unknown>> = dataOf(view);
  const script = `<script>window.__SUB_PAGE_DATA__=${inScript(data)};</script>`;
  const head = page.indexOf('</head>');
  const at = head < 0 ? 0 : head;
  const words = (part: string): string =>
    part.replaceAll(/\{\{\s*\.?(\w+)\s*\}\}/g, (token, name: string) =>
      Object.hasOwn(data, name) ? html`${String(data[name])}`.toString() : token,
    );
  return words(page.slice(0, at)) + script + words(page.slice(at));
}

export class Theme {
  readonly #settings: LiveSettings<typeof pageSettings>;
  readonly #log: Log;
  #page: string | undefined;
  #problem = '';

  constructor({ settings, log }: { settings: LiveSettings<typeof pageSettings>; log: Log }) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Reads the file again; without it, the page of the panel is shown. */
  async follow(): Promise<void> {
    const { subThemeDir } = this.#settings.read();
    let problem = '';
    let page: string | undefined;
    try {
      if (subThemeDir !== '') page = await readTheme(subThemeDir);
    } catch (error) {
      problem = messageOf(error);
    }
    this.#page = page;
    if (problem !== '' && problem !== this.#problem)
      this.#log.warn('the page of subThemeDir is not shown', { reason: problem });
    this.#problem = problem;
  }

  /** Undefined where there is none. */
  write(view: PageView): PageReply | undefined {
    return this.#page === undefined ? undefined : { html: fill(this.#page, view), headers: HEADERS };
  }
}
