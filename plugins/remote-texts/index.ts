// Settings may hold the URL of a text in place of the text.
import {
  contribute,
  definePlugin,
  int,
  job,
  Jobs,
  list,
  payload,
  provide,
  route,
  shape,
  singleton,
  tap,
  text,
  word,
} from '../../kernel/index.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { afterSettingsSave } from '../settings/contract.js';
import { RemoteTexts, RemoteTextSources } from './contract.js';
import { migrations, tables } from './tables.js';
import { TextFetcher } from './text-fetcher.js';
import { TextStore } from './text-store.js';

const JOB = 'fetch';
const State = shape({
  setting: word(),
  fetchedAt: int().description('Unix ms of the last good fetch; 0: none yet'),
  triedAt: int().description('Unix ms of the last try; 0: none yet'),
  error: text().description('why the last try failed; blank when it did not'),
  characters: int(),
});

export default definePlugin({
  name: 'remote-texts',
  version: '0.1.0',
  api: 1,
  about: 'Fetches the texts of settings that hold an https URL in place of a text.',
  uses: { outgoing: Outgoing, allJobs: Jobs },
  tables,
  migrations,
  services: { store: singleton(TextStore), fetcher: singleton(TextFetcher) },
  provides: ({ store }) => [provide(RemoteTexts, store)],
  contributes: ({ fetcher }) => [contribute(OutgoingHosts, fetcher.access)],
  taps: ({ allJobs, contributions }) => [
    tap(afterSettingsSave, ({ keys }) => {
      // Nobody waits for it.
      if (contributions(RemoteTextSources).some(({ value }) => keys.has(value.setting)))
        void allJobs.run('remote-texts', JOB);
    }),
  ],
  jobs: ({ fetcher }) => [job(JOB, '1m', (signal) => fetcher.run(signal))],
  routes: ({ fetcher }) => [
    route({
      method: 'GET',
      path: '/panel/api/setting/remoteTexts',
      name: 'settings.remoteTexts',
      doc: 'Returns how the texts are that settings name by URL. It shows no URL, because a URL may be a secret.',
      reply: payload(list(State)),
      handle: () => fetcher.state(),
    }),
  ],
});
