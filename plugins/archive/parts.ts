// The kinds of records that plugins contribute, each behind those to which it refers.
import { type Contributed, kernelErrors, messageOf, type PluginContext } from '../../kernel/index.js';
import { type ArchivePart, ArchiveParts, type ArchiveRecord } from './contract.js';

/** The numbers of a record of a file, as its part adds them up. Throws an error that names the kind when the part fails; a file may hold anything, so that is no fault of the plugin. */
export function numbersOf(
  part: ArchivePart | undefined,
  record: ArchiveRecord,
): Readonly<Record<string, unknown>> | undefined {
  try {
    return part?.sums?.(record);
  } catch (cause) {
    const problem = `a record of the kind ${part?.kind} cannot be added up: ${messageOf(cause)}`;
    throw kernelErrors.PLUGIN_FAILED(problem, { cause });
  }
}

export class Parts {
  readonly #contributions: PluginContext['contributions'];

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  /** A circle of references is cut where it is found. */
  inOrder(): readonly Contributed<ArchivePart>[] {
    const all = [...this.#contributions(ArchiveParts)];
    const first = (part: ArchivePart) =>
      all.filter(({ value }) => part.after?.includes(value.kind) || value.before?.includes(part.kind));
    const ordered = new Set<Contributed<ArchivePart>>();
    const visiting = new Set<Contributed<ArchivePart>>();
    const visit = (entry: Contributed<ArchivePart>): void => {
      if (visiting.has(entry)) return;
      visiting.add(entry);
      for (const other of first(entry.value)) visit(other);
      ordered.add(entry);
    };
    for (const entry of all) visit(entry);
    return [...ordered];
  }
}
