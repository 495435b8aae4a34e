// Makes every import of `@weir-panel/weir/…`, from any folder, resolve to the running panel: one kernel, one Refusal, the same
// tokens, whatever copy the importer has in its own node_modules for its types.
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
export function resolveToThisPanel(): void {
  if (on) return;
  on = true;
  // A package may import itself by name: resolved from here, Node reads the exports of the running package.
  const { registerHooks } = module as NewerModule;
  if (registerHooks) {
    registerHooks({
      resolve: (specifier, context, next) =>
        next(specifier, OURS.test(specifier) ? { ...context, parentURL: import.meta.url } : context),
    });
    return;
  }
  // Node 20 runs hooks in a thread of their own, which must load them from a URL.
  const hooks = `export const resolve = (specifier, context, next) => next(specifier, ${String(OURS)}.test(specifier) ? { ...context, parentURL: ${JSON.stringify(import.meta.url)} } : context);`;
  module.register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
