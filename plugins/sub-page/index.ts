// The page of a subscription, for browsers.
import {
  contribute,
  definePlugin,
  everywhere,
  job,
  kernelErrors,
  messageOf,
  singleton,
  tap,
} from '../../kernel/index.js';
import { beforeSettingsSave } from '../settings/contract.js';
import { SubscriptionPages } from '../subscription/contract.js';
import { writePage } from './page.js';
import { pageSettings, Theme } from './theme.js';
import { readTheme } from './theme-file.js';

export default definePlugin({
  name: 'sub-page',
  version: '0.1.0',
  api: 1,
  about: 'Shows the users of a subscription what they have used, and how to connect, in their language.',
  settings: pageSettings,
  services: { theme: singleton(Theme) },
  contributes: ({ theme }) => [
    contribute(SubscriptionPages, {
      page: (view, request) => theme.write(view) ?? writePage(view, request),
    }),
  ],
  taps: ({ theme, settings }) => [
    tap(
      beforeSettingsSave,
      async ({ changes }) => {
        const folder = changes['subThemeDir' satisfies keyof typeof pageSettings];
        if (typeof folder !== 'string' || folder === '') return;
        await readTheme(folder).catch((error: unknown) => {
          throw kernelErrors.INVALID(`subThemeDir: ${messageOf(error)}`, { path: 'subThemeDir' });
        });
      },
      { strict: true },
    ),
    settings.changed(() => theme.follow()),
  ],
  jobs: ({ theme }) => [everywhere(job('theme', '1m', () => theme.follow()))],
  start: ({ theme }) => theme.follow(),
});
