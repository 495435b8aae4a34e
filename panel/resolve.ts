// Whoever imports `@weir-panel/weir/…`, from wherever on the disk, gets the panel that runs: one kernel, one Refusal, the same tokens,
// whatever copy lies in the importer's own node_modules for its types.
import * as module from 'node:module';

type Resolve = (
  specifier: string,
  context: { readonly parentURL?: string | undefined },
  next: (specifier: string, context?: object) => object,
) => object;
interface NewerModule {
  readonly registerHooks?: (hooks: { readonly resolve: Resolve }) => unknown;
}
const OURS = /^@weir-panel\/weir\//;

let on = false;
export function resolveToUs(): void {
  if (on) return;
  on = true;
  // A package may import itself by its name: asked from here, Node reads the exports of the package that runs.
  const { registerHooks } = module as NewerModule;
  if (registerHooks) {
    registerHooks({
      resolve: (specifier, context, next) =>
        next(specifier, OURS.test(specifier) ? { ...context, parentURL: import.meta.url } : context),
    });
    return;
  }
  // Node 20 runs hooks in a thread of their own, which has to load them from somewhere.
  const hooks = `export const resolve = (specifier, context, next) => next(specifier, ${String(OURS)}.test(specifier) ? { ...context, parentURL: ${JSON.stringify(import.meta.url)} } : context);`;
  module.register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
