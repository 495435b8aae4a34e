import { bool, definePlugin, contribute, urlPath, setting, inSection } from '@weir-panel/weir/kernel';
import { Formats, randomPath } from '@weir-panel/weir/plugins/subscription';
import { lineOf, listOf, surgeCannot } from './surge.js';

const settings = inSection('Subscriptions for Surge', {
  'surge-list.enable': setting(bool(), true, 'serve subscriptions as a list for Surge, too'),
  'surge-list.path': setting(urlPath().min(2).max(255), randomPath, 'path prefix of these lists', {
    level: 'advanced',
    when: { field: 'surge-list.enable' },
  }),
});

export default definePlugin({
  name: 'surge-list',
  version: '1.0.0',
  api: 1,
  about: 'Subscriptions as a list of proxies for Surge.',
  settings,
  contributes: ({ settings: live }) => [
    contribute(Formats, {
      name: 'surge-list',
      contentType: 'text/plain; charset=utf-8',
      prefix: () => (live.read()['surge-list.enable'] ? live.read()['surge-list.path'] : undefined),
      pathSetting: 'surge-list.path',
      cannot: surgeCannot,
      compile: lineOf,
      body: listOf,
    }),
  ],
});
