// Renderers: plugins add them to formats of other plugins, for entries that these cannot express.
import { type Contributed, whyNotJson } from '../../kernel/index.js';
import type { EntryTemplate } from '../inbounds/contract.js';
import type { Format, Renderer } from './contract.js';
import { isDocument } from './formats.js';
import { GuardedCalls } from './guarded-calls.js';

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && whyNotJson(value) === undefined;

export function containedRenderer({ value: renderer, fault }: Contributed<Renderer>): Renderer {
  const { format, protocol } = renderer;
  const guarded = new GuardedCalls(`the renderer for ${format}/${protocol}`, fault);
  return {
    format,
    protocol,
    cannot: (entry) => guarded.reason(() => renderer.cannot?.(entry)),
    ...(renderer.compile && {
      compile: (entry) => guarded.writer(() => (renderer as Required<Renderer>).compile(entry)),
    }),
    ...(renderer.render && {
      render: (entry) =>
        guarded.must('rendering', isObject, () => (renderer as Required<Renderer>).render(entry)),
    }),
  };
}

/** How a format writes an entry: by itself, with a renderer, or not at all. */
export type Wording =
  | { readonly by: 'format' }
  | { readonly by: 'renderer'; readonly renderer: Renderer }
  | { readonly by: 'nobody'; readonly reason: string };

/** The format itself comes first. Throws KERNEL_PLUGIN_OFF when its code fails. */
export function wordingOf(format: Format, entry: EntryTemplate, renderers: readonly Renderer[]): Wording {
  const reason = format.cannot(entry);
  if (reason === undefined) return { by: 'format' };
  const renderer = renderers.find(
    (one) => one.format === format.name && one.protocol === entry.account.protocol,
  );
  if (!renderer) return { by: 'nobody', reason };
  const needed = isDocument(format) ? 'render' : 'compile';
  if (!renderer[needed])
    return {
      by: 'nobody',
      reason: `${reason}; its renderer has no function ${needed}, which the format calls`,
    };
  const other = renderer.cannot?.(entry);
  return other === undefined ? { by: 'renderer', renderer } : { by: 'nobody', reason: other };
}
