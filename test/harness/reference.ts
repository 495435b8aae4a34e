// What is written from the declarations of all plugins: the reference of the API, the client, and the types that plugins are written against.
import { clientOf, errorCodesOf } from '../../plugins/api-docs/client.js';
import { type OpenApi, OpenApiWriter } from '../../plugins/api-docs/openapi.js';
import { TestPanel } from './panel.js';
import { readPreset } from '../../panel/choose-plugins.js';
import { findPlugins } from '../../panel/find-plugins.js';
import { commandList } from '../reference/command-list.js';
import { errorCatalogues, errorList, pluginList } from '../reference/lists.js';
import { formatsPage, PAGE as FORMATS } from '../formats/page.js';
import { movingInPage, PAGE } from '../old-libraries/page.js';
import { makePublicTypes } from '../reference/public-types.js';
import { sourceRoot } from './source-root.js';

export interface Reference {
  readonly document: OpenApi;
  /** what could not be described */
  readonly complaints: readonly string[];
  /** texts by path in the checkout */
  readonly files: Readonly<Record<string, string>>;
}

/** Every plugin that there is, the engine without a core. */
export const bootWithoutCore = async (): Promise<TestPanel> =>
  TestPanel.boot({
    plugins: await findPlugins(await readPreset('full')),
    env: { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' },
  });

export async function makeReference(): Promise<Reference> {
  await using panel = await bootWithoutCore();
  const complaints: string[] = [];
  const routes = panel.kernel.listeners.routes();
  const version = panel.kernel.plugins().find(({ name }) => name === 'api-docs')?.version ?? '';
  const document = await new OpenApiWriter((problem) => void complaints.push(problem)).write(routes, {
    basePath: '/',
    version,
  });
  const root = await sourceRoot();
  const { types, hooks, complaints: untold } = await makePublicTypes(root);
  const errors = await errorCatalogues(root);
  return {
    document,
    complaints: [...complaints, ...untold],
    files: {
      [FORMATS]: await formatsPage(root),
      [PAGE]: await movingInPage(root),
      'docs/reference/api.json': `${JSON.stringify(document, undefined, 1)}\n`,
      'docs/reference/commands.md': await commandList(),
      'docs/reference/errors.md': errorList(errors),
      'docs/reference/hooks.md': hooks,
      'docs/reference/kernel.d.ts': types,
      'docs/reference/plugins.md': await pluginList(),
      'sdk/error-codes.ts': errorCodesOf(
        // REFUSED: a refusal that its plugin puts into words.
        ['REFUSED', ...errors.flatMap(({ failures }) => failures.map(({ code }) => code))],
      ),
      'sdk/index.ts': clientOf(document),
    },
  };
}
