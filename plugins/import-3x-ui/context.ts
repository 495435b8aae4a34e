// What all steps of one import share.
import { messageOf, PanelError, type Principal, storageFailure } from '../../kernel/index.js';
import type { Report } from './report.js';
import type { Source } from './source/source.js';

/** Stands for what a dry run would have made. */
export const NOT_MADE = 0;

export interface Context {
  readonly source: Source;
  readonly report: Report;
  readonly who: Principal;
  /** checks all and writes nothing */
  readonly dryRun: boolean;
  /** aborts when the caller has left: the import ends between two rows */
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
  /** ids here by ids there, of inbounds and nodes that are here; NOT_MADE in a dry run */
  readonly inboundIds: Map<number, number>;
  readonly nodeIds: Map<number, number>;
}

/** Whether the row is refused, and not the database at fault. */
export const isRefusal = (error: unknown): error is PanelError =>
  error instanceof PanelError && error.status < 500 && !storageFailure(error);

/** Counts a row as taken, or as left with the reason of its refusal. Resolves with whether it is taken. */
export async function take(
  { report }: Context,
  { table, name, rows = 1 }: { readonly table: string; readonly name: string; readonly rows?: number },
  work: () => Promise<void> | void,
): Promise<boolean> {
  try {
    await work();
    report.taken(table, rows);
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    report.left(table, messageOf(error), name, rows);
    return false;
  }
}

/** Without the plugin of a table, all of its rows stay behind. */
export function leaveAll({ report, source }: Context, table: string, plugin: string): void {
  report.left(table, `this panel runs without the plugin ${plugin}`, '', source.facts.rows[table] ?? 0);
}
