import { fileURLToPath } from 'node:url';
import { contribute, definePlugin } from '@weir-panel/weir/kernel';
import { PluginPages } from '@weir-panel/weir/plugins/web-ui';

/** Beside `dist` in the package. */
const page = fileURLToPath(new URL('../page', import.meta.url));

export default definePlugin({
  name: 'acme-plot',
  version: '1.0.0',
  api: 1,
  about: 'A page with a plot of the traffic of today.',
  contributes: () => [
    contribute(PluginPages, {
      key: 'today',
      title: { en: 'Plot of today', fa: 'نمودار امروز', de: 'Heute' },
      icon: 'chart',
      folder: page,
      api: ['GET x/usage-by-day/top'],
    }),
  ],
});
