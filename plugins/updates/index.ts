// Updates of the panel itself, from signed releases.
import {
  bool,
  contribute,
  definePlugin,
  int,
  job,
  maybe,
  oneOf,
  optional,
  payload,
  route,
  shape,
  singleton,
  text,
  variable,
  withMessage,
  word,
} from '../../kernel/index.js';
import { AuditTrail } from '../audit/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { updateEnded, updateFound } from './contract.js';
import { errors } from './errors.js';
import { IndexSource } from './index-source.js';
import { endedUpdate, foundUpdate } from './notified.js';
import { PackageDownload } from './package-download.js';
import { PeriodicCheck } from './periodic-check.js';
import { CHANNELS } from './release-index.js';
import { SeenIndexes } from './seen-indexes.js';
import { keys, updateSettings } from './settings.js';
import { ThisInstallation } from './this-installation.js';
import { UpdateChoice } from './update-choice.js';
import { InfoReply, UpdateInfo } from './update-info.js';
import { STEPS, UpdateRun } from './update-run.js';
import { Updater } from './updater.js';

/** Texts as older programs send them. */
const flag = () => bool().truthy('1', 't').falsy('0', 'f');
const seconds = (ms: number): number => Math.floor(ms / 1000);

export default definePlugin({
  name: 'updates',
  version: '0.1.0',
  api: 1,
  about: 'Updates the panel itself to signed releases, and goes back by itself when one does not work.',
  uses: { outgoing: maybe(Outgoing), audit: maybe(AuditTrail) },
  config: {
    root: variable(
      'WEIR_UPDATE_ROOT',
      optional(word().max(1_000)),
      'folder of the installed package, where it is not that of the running program',
    ),
    key: variable(
      'WEIR_UPDATE_KEY',
      optional(keys().min(1)),
      'public key of minisign of the releases that may be installed; in place of updateKey and of the key in the package',
    ),
  },
  settings: updateSettings,
  hooks: [updateFound, updateEnded],
  services: {
    installation: singleton(ThisInstallation),
    seen: singleton(SeenIndexes),
    source: singleton(IndexSource),
    download: singleton(PackageDownload),
    run: singleton(UpdateRun),
    choice: singleton(UpdateChoice),
    updater: singleton(Updater),
    info: singleton(UpdateInfo),
    check: singleton(PeriodicCheck),
  },
  contributes: ({ source }) => [
    contribute(OutgoingHosts, source.access),
    contribute(NotifiedEvents, foundUpdate),
    contribute(NotifiedEvents, endedUpdate),
  ],
  taps: ({ settings, source }) => [settings.changed(() => source.forget())],
  start: ({ updater }) => updater.start(),
  jobs: ({ check }) => [job('check', { every: '1h', jitter: '45m' }, () => check.look())],
  routes: ({ info, updater, run, settings, db, audit }) => [
    route({
      method: 'GET',
      path: '/panel/api/server/getPanelUpdateInfo',
      name: 'server.panelUpdateInfo',
      doc: 'The running version, the newest release of the chosen channel, and whether it can be installed here. The index of releases is read again after 15 minutes.',
      reply: payload(InfoReply),
      errors: [errors.SOURCE],
      handle: () => info.read(),
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/getUpdateStatus',
      name: 'server.updateStatus',
      doc: 'The last update of the panel, also after the restart: compare `runId` with the one of `updatePanel`. Before the first update, `runId` is blank and `state` is pending.',
      reply: payload(
        shape({
          runId: text(),
          state: oneOf('pending', 'success', 'failed'),
          exitCode: int(),
          finishedAt: int().description('Unix seconds; 0 while it runs'),
          step: text().description(`${STEPS.join(', ')}; blank before the first update`),
          version: text(),
          from: text().description('the version that ran before'),
          startedAt: int().description('Unix seconds'),
          received: int().description('bytes of the package that have arrived'),
          reason: text().description('why it failed'),
        }),
      ),
      handle: async () => {
        await updater.look();
        const { last } = run;
        if (!last)
          return {
            ...{ runId: '', state: 'pending' as const, exitCode: 0, finishedAt: 0, step: '', version: '' },
            ...{ from: '', startedAt: 0, received: 0, reason: '' },
          };
        const { runId, state, exitCode, step, version, from, reason } = last;
        const [startedAt, finishedAt] = [seconds(last.startedAt), seconds(last.finishedAt)];
        const { received } = updater;
        return { runId, state, exitCode, finishedAt, step, version, from, startedAt, received, reason };
      },
    }),
    route({
      method: 'POST',
      path: '/panel/api/server/updatePanel',
      name: 'server.updatePanel',
      doc: 'Begins an update of the panel to the newest release of its channel, or to `version`, and replies with its `runId` at once; `getUpdateStatus` says how it goes. The package is downloaded and verified, the new release is started on a copy of the database, and then it takes the place of the running one; the core runs on. If the new panel does not work, the previous one comes back with its database.',
      form: true,
      body: optional(
        shape({
          dev: optional(flag().empty('')).description(
            'also releases of the channel dev; by default as `setUpdateChannel` has it',
          ),
          version: optional(word().max(64)).description(
            'a release of the channel; by default the newest that can be installed',
          ),
        }),
      ).example({ dev: false }),
      reply: payload(shape({ runId: text(), version: text() })),
      errors: [
        errors.NOT_INSTALLED,
        errors.NOT_SET_UP,
        errors.BUSY,
        errors.UNKNOWN,
        errors.UNFIT,
        errors.NOT_RECORDED,
        errors.SOURCE,
      ],
      handle: async ({ body, who }) => {
        const isDev = body?.dev ?? settings.read().devChannelEnable;
        const begun = await updater.begin(
          { channel: isDev ? 'dev' : 'stable', version: body?.version },
          async (version) => audit?.act('panel', who, { name: 'update', facts: { version } }),
        );
        const { runId, version } = begun;
        return withMessage(`the update to ${version} has begun`, { runId, version });
      },
    }),
    route({
      method: 'POST',
      path: '/panel/api/server/setUpdateChannel',
      name: 'server.setUpdateChannel',
      doc: 'Chooses the channel of updates of the panel: with `dev`, releases of the channel dev are offered beside stable ones.',
      form: true,
      body: shape({ dev: flag() }).example({ dev: false }),
      reply: payload(shape({ channel: oneOf(...CHANNELS) })),
      handle: async ({ body, who }) => {
        await db.write((tx) => settings.change(tx, { devChannelEnable: body.dev }, who));
        const channel = body.dev ? ('dev' as const) : ('stable' as const);
        return withMessage(`updates come from the channel ${channel}`, { channel });
      },
    }),
  ],
});
