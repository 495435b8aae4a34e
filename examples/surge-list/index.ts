import { bool, definePlugin, contribute, urlPath } from '@weir-panel/weir/kernel';
import { setting, SettingGroups, Settings } from '@weir-panel/weir/plugins/settings';
import { Formats, randomPath } from '@weir-panel/weir/plugins/subscription';
import { lineOf, listOf, surgeCannot } from './surge.js';

const settings = {
  'surge-list.enable': setting(bool(), true, 'subscriptions are served as a list for Surge as well'),
  'surge-list.path': setting(urlPath().min(2).max(255), randomPath, 'path prefix of these lists'),
} as const;

export default definePlugin({
  name: 'surge-list',
  version: '1.0.0',
  api: 1,
  about: 'Subscriptions as a list of proxies for Surge.',
  uses: { settings: Settings },
  contributes: ({ settings: live }) => [
    contribute(SettingGroups, { group: settings }),
    contribute(Formats, {
      name: 'surge-list',
      contentType: 'text/plain; charset=utf-8',
      prefix: () =>
        live.read(settings)['surge-list.enable'] ? live.read(settings)['surge-list.path'] : undefined,
      pathSetting: 'surge-list.path',
      cannot: surgeCannot,
      compile: lineOf,
      body: listOf,
    }),
  ],
});
