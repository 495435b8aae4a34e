// Formats of other plugins: a failing one breaks only its own subscriptions.
import { type Contributed, inspect, urlPath } from '../../kernel/index.js';
import type { DocumentEntry, DocumentFormat, Format, ListFormat, Written } from './contract.js';
import { GuardedCalls } from './guarded-calls.js';

const PATH = urlPath();
/** Other characters in a path have a meaning for the router, and no listener could be mounted. */
const isPath = (value: unknown): boolean => value === undefined || 'value' in inspect(PATH, value);

const isPaths = (value: unknown): boolean =>
  Array.isArray(value) && value.every((path) => path !== undefined && isPath(path));

const isUrl = (value: unknown): boolean =>
  value === undefined || value === '' || (typeof value === 'string' && URL.canParse(value));

export const isDocument = (format: Format): format is DocumentFormat => 'document' in format;

export function contained({ value: format, fault }: Contributed<Format>): Format {
  const { name, contentType, pathSetting, variantOf, fileName } = format;
  const guarded = new GuardedCalls(`the format ${name}`, fault);
  const common = {
    name,
    contentType,
    ...(pathSetting !== undefined && { pathSetting }),
    ...(variantOf !== undefined && { variantOf }),
    ...(fileName !== undefined && { fileName }),
    ...(format.aliases && {
      aliases: () => guarded.ask('aliases', isPaths, () => format.aliases?.())?.answer ?? [],
    }),
    ...(format.publicUrl && {
      publicUrl: () => guarded.ask('publicUrl', isUrl, () => format.publicUrl?.())?.answer,
    }),
    prefix: () => guarded.ask('prefix', isPath, () => format.prefix())?.answer,
    cannot: (entry: Parameters<Format['cannot']>[0]) => guarded.reason(() => format.cannot(entry)),
  };
  if (isDocument(format)) {
    type Given = readonly [readonly DocumentEntry[], Parameters<DocumentFormat['document']>[1]];
    const document = (given: Given): string => format.document(...given);
    return { ...common, document: (...given) => guarded.text('document', document, given) };
  }
  const note = (text: string): string => (format as Required<ListFormat>).note(text);
  const body = (given: readonly [readonly string[], Written]): string => format.body(...given);
  return {
    ...common,
    ...(format.uniqueNames === true && { uniqueNames: true }),
    ...(format.note && { note: (text: string) => guarded.text('note', note, text) }),
    compile: (entry) => guarded.writer(() => format.compile(entry)),
    body: (...given) => guarded.text('body', body, given),
  };
}
