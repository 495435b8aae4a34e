// Installs other versions of the core, and returns to earlier ones.
import {
  bool,
  contribute,
  definePlugin,
  int,
  list as listOf,
  maybe,
  nullable,
  oneOf,
  optional,
  payload,
  route,
  shape,
  singleton,
  text,
  withMessage,
  word,
} from '../../kernel/index.js';
import { AuditTrail } from '../audit/contract.js';
import { CORE_VERSION, CorePrograms, Engine } from '../engine/contract.js';
import { holdingOpen, Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { LiveTypes } from '../realtime/contract.js';
import { CoreStore } from './core-store.js';
import { errors } from './errors.js';
import { Installer } from './installer.js';
import { InstallProgress, STEPS } from './progress.js';
import { ReleaseList } from './release-list.js';
import { ReleaseSource } from './release-source.js';
import { sourceSettings } from './settings.js';
import { tagOf } from './version.js';

const Core = {
  version: word(),
  sha256: word().description('of the program'),
  source: text().description('where it came from: an address, or a program of this machine'),
  digestFrom: text().description(
    'what confirmed the archive: an address, `request`, `WEIR_ENGINE_SHA256`; blank for a program of this machine',
  ),
  installedAt: int().description('Unix ms'),
};

export default definePlugin({
  name: 'engine-versions',
  version: '0.1.0',
  api: 1,
  about: 'Installs other versions of the core, and returns to earlier ones.',
  uses: {
    engine: Engine,
    programs: maybe(CorePrograms),
    outgoing: maybe(Outgoing),
    audit: maybe(AuditTrail),
  },
  settings: sourceSettings,
  services: {
    progress: singleton(InstallProgress),
    store: singleton(CoreStore),
    source: singleton(ReleaseSource),
    list: singleton(ReleaseList),
    installer: singleton(Installer),
  },
  contributes: ({ source, progress }) => [
    contribute(OutgoingHosts, source.access),
    contribute(LiveTypes, {
      type: 'engine_install',
      snapshot: () => progress.now ?? null,
      start: (output) => void (progress.output = output),
    }),
  ],
  taps: ({ settings, list }) => [settings.changed(() => list.forget())],
  start: ({ store }) => store.removeStaging(),
  routes: ({ list, installer, store, programs, engine, progress, audit }) => [
    route({
      method: 'GET',
      path: '/panel/api/server/getEngineVersion',
      name: 'server.engineVersions',
      doc: 'The tags of the releases of the core, newest first. The list is read again after 15 minutes; while its source is down, the last one serves.',
      reply: payload(listOf(word())),
      errors: [errors.SOURCE],
      handle: async () => (await list.all()).map(({ version }) => tagOf(version)),
    }),
    route({
      method: 'POST',
      path: '/panel/api/server/installEngine/{version}',
      name: 'server.installEngine',
      doc: `Installs a version of the core and restarts the core with it, after a last poll. The archive must match a digest; \`digestFrom\` and the message say which. The new core is tested with the current config first, and when it does not serve, the previous one starts again. An installed version is not downloaded again. The live stream has messages of the type engine_install meanwhile. Weir is tested with core ${CORE_VERSION}.`,
      params: shape({
        version: word()
          .max(40)
          .pattern(/^(?:latest|v?\d{1,4}(?:\.\d{1,4}){2})$/, 'latest, or a version such as v26.3.27')
          .example('v26.3.27'),
      }),
      form: true,
      body: optional(
        shape({
          sha256: optional(
            word().pattern(/^[0-9a-fA-F]{64}$/, 'SHA-256 of 64 hexadecimal digits'),
          ).description('of the archive; takes precedence over the published one'),
        }),
      ).example({ sha256: '0'.repeat(64) }),
      reply: payload(
        shape({
          ...Core,
          downloaded: bool(),
          restarted: bool().description('false where this version ran already'),
          removed: listOf(word()).description('versions that made room'),
        }),
      ),
      errors: [
        errors.PINNED,
        errors.BUSY,
        errors.UNKNOWN,
        errors.SOURCE,
        errors.ARCHIVE,
        errors.REFUSED,
        errors.FAILED,
      ],
      handle: async ({ params, body, who, reply }) => {
        await audit?.act('core', who, { name: 'install', facts: { version: params.version } });
        const core = await holdingOpen(reply.progressed, () =>
          installer.install(params.version, body?.sha256),
        );
        const { version, digestFrom, downloaded, restarted } = core;
        return withMessage(
          [
            `core ${version} runs${restarted ? '' : ' already'}`,
            downloaded ? `its archive matches the digest of ${digestFrom}` : 'it was installed already',
            ...(version === CORE_VERSION ? [] : [`Weir is tested with core ${CORE_VERSION} only`]),
          ].join('; '),
          core,
        );
      },
    }),
    route({
      method: 'GET',
      path: '/panel/api/x/engine-versions/installed',
      name: 'engineVersions.installed',
      doc: 'The installed versions, newest first, and the one that runs. installEngine returns to one of them without the network.',
      reply: payload(
        shape({
          running: text().description('blank without a core'),
          binary: text(),
          tested: word().description('the version that Weir is tested with'),
          chosen: text().description('blank while the core is one that was found elsewhere'),
          previous: text(),
          installed: listOf(shape(Core)),
        }),
      ),
      handle: async () => {
        const choice = (await programs?.choice()) ?? { chosen: '', previous: '' };
        return {
          running: engine.status().version,
          binary: programs?.present?.binary ?? '',
          tested: CORE_VERSION,
          chosen: choice.chosen,
          previous: choice.previous,
          installed: await store.all(),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/panel/api/x/engine-versions/progress',
      name: 'engineVersions.progress',
      doc: 'Where the present or last install is; null when there was none since the start of the panel.',
      reply: payload(
        nullable(
          shape({
            version: text(),
            step: oneOf(...STEPS),
            received: int().description('bytes of the archive'),
            size: int().description('of the archive; 0 when the server does not say'),
            error: text(),
          }),
        ),
      ),
      handle: () => progress.now ?? null,
    }),
  ],
});
