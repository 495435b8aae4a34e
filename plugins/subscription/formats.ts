// Formats as others add them: what one of them breaks costs its own subscriptions, and nobody else's.
import { type Contributed, inspect, kernelErrors, PanelError, urlPath } from '../../kernel/index.js';
import type { Format } from './contract.js';

/** Characters of one entry, or of all; no client program reads a longer list. */
const LONGEST = 16 * 1024 * 1024;

const PATH = urlPath();
/** What else is in a path would mean something to the router, and no listener would be mounted. */
const isPath = (value: unknown): boolean => value === undefined || 'value' in inspect(PATH, value);
const sortOf = (answer: unknown): string => {
  if (typeof answer === 'string') return `${answer.length} characters`;
  return answer === null ? 'null' : typeof answer;
};
const isTemplate = (value: unknown): boolean => value === undefined || typeof value === 'function';

export function contained({ value: format, fault }: Contributed<Format>): Format {
  const { name, contentType, pathSetting } = format;
  const isNone = (what: string, answer: unknown): void => {
    (answer as { catch?: (ignore: () => void) => void } | null)?.catch?.(() => undefined);
    fault(`${what} of the format ${name}`, new Error(`it answered ${sortOf(answer)}, which is no ${what}`));
  };
  /** The answer if it is one; else the fault is written down to whose format it is. */
  const ask = <T>(
    what: string,
    fits: (answer: unknown) => boolean,
    work: () => T,
  ): { readonly answer: T } | undefined => {
    try {
      const answer = work();
      if (fits(answer)) return { answer };
      isNone(what, answer);
    } catch (error) {
      // A protocol of another plugin failed, and that is written down to it.
      if (!(error instanceof PanelError)) fault(`${what} of the format ${name}`, error);
    }
    return undefined;
  };
  // A list that lacks some of its entries would make client programs forget these; an error makes them keep what they have.
  const failed = () => kernelErrors.PLUGIN_OFF(`the format ${name} failed; the log says why`);
  /** For each link of each fetch, so without a closure, and without an object around an answer that is right. */
  const insist = <G>(what: string, work: (given: G) => string, given: G): string => {
    try {
      const text: unknown = work(given);
      if (typeof text === 'string' && text.length <= LONGEST) return text;
      isNone(what, text);
    } catch (error) {
      if (!(error instanceof PanelError)) fault(`${what} of the format ${name}`, error);
    }
    throw failed();
  };
  const body = (entries: readonly string[]): string => format.body(entries);
  return {
    name,
    contentType,
    ...(pathSetting !== undefined && { pathSetting }),
    prefix: () => ask('prefix', isPath, () => format.prefix())?.answer,
    compile: (entry) => {
      const compiled = ask('template', isTemplate, () => format.compile(entry));
      if (!compiled)
        return () => {
          throw failed();
        };
      const template = compiled.answer;
      return template && ((fill) => insist('entry', template, fill));
    },
    body: (entries) => insist('body', body, entries),
  };
}
