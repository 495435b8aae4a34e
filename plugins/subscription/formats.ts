// Formats as others add them: what one of them breaks costs its own subscriptions, and nobody else's.
import { type Extended, kernelErrors } from '../../kernel/index.js';
import type { Format } from './contract.js';

const isPath = (value: unknown): boolean => value === undefined || (typeof value === 'string' && /^\/(?:.*\/)?$/.test(value));
const isText = (value: unknown): boolean => typeof value === 'string';
const isTemplate = (value: unknown): boolean => value === undefined || typeof value === 'function';

export function contained({ value: format, fault }: Extended<Format>): Format {
  const { name, contentType, pathSetting } = format;
  /** The answer if it is one; else the fault is written down to whose format it is. */
  const ask = <T>(what: string, fits: (answer: unknown) => boolean, work: () => T): { readonly answer: T } | undefined => {
    try {
      const answer = work();
      if (fits(answer)) return { answer };
      (answer as { catch?: (ignore: () => void) => void } | null)?.catch?.(() => undefined);
      throw new Error(`it answered ${answer === null ? 'null' : typeof answer}, which is no ${what}`);
    } catch (error) {
      fault(`${what} of the format ${name}`, error);
      return undefined;
    }
  };
  // A list that lacks some of its entries would make client programs forget these; an error makes them keep what they have.
  const failed = () => kernelErrors.PLUGIN_OFF(`the format ${name} failed; the log says why`);
  const insist = (what: string, work: () => string): string => {
    const text = ask(what, isText, work);
    if (!text) throw failed();
    return text.answer;
  };
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
      return template && ((fill) => insist('entry', () => template(fill)));
    },
    body: (entries) => insist('body', () => format.body(entries)),
  };
}
