import {
  bool,
  definePlugin,
  Jobs,
  Listeners,
  maybe,
  message,
  payload,
  Plugins,
  type RequestInfo,
  route,
  withMessage,
  shape,
  text,
  word,
} from '../../kernel/index.js';
import { AuditTrail } from '../audit/contract.js';
import { PanelListener } from '../settings/contract.js';
import { type Objection, PanelProgram, type Switched } from './contract.js';
import { errors } from './errors.js';
import { healthCommand } from './health.js';
import { jobRoutes, jobsCommand } from './jobs.js';
import { PluginList, pluginList } from './plugins.js';

const refusals: Readonly<Record<Objection['refused'], (reason: string) => Error>> = {
  unknown: (reason) => errors.UNKNOWN(reason),
  essential: (reason) => errors.ESSENTIAL(reason),
  'in use': (reason) => errors.IN_USE(reason),
  'would not start': (reason) => errors.WOULD_NOT_START(reason),
  'not writable': (reason) => errors.NOT_WRITABLE(reason),
  busy: (reason) => errors.BUSY(reason),
};

function throwRefusal(done: Switched | Objection): asserts done is Switched {
  if ('refused' in done) throw refusals[done.refused](done.reason);
}

/** The change is under way; this connection closes with the restart. */
function promise(reply: RequestInfo['reply']): void {
  reply.status(202);
  reply.header('connection', 'close');
}

export default definePlugin({
  name: 'system',
  version: '0.1.0',
  api: 1,
  about: 'Lists plugins and jobs with their state, enables and disables plugins, and runs jobs.',
  uses: {
    plugins: Plugins,
    jobs: Jobs,
    listeners: Listeners,
    listener: maybe(PanelListener),
    program: maybe(PanelProgram),
    audit: maybe(AuditTrail),
  },
  routes: ({ plugins, jobs, program, audit }) => [
    ...jobRoutes(jobs, audit),
    route({
      method: 'GET',
      path: '/panel/api/system/plugins',
      name: 'system.plugins.list',
      doc: 'Lists the enabled plugins, with the reason if one is not running.',
      reply: payload(PluginList),
      handle: () => pluginList(plugins, program),
    }),
    route({
      method: 'POST',
      path: '/panel/api/system/plugins/{name}',
      name: 'system.plugins.setEnable',
      doc: 'Enables or disables a plugin in the config file, after a check that the panel would start with the change. The reply has status 202 and comes before the panel restarts, which takes a second or two and does not touch the core; GET /panel/api/system/plugins returns the result. If the start fails, the previous config is restored.',
      params: shape({ name: word().max(255).example('quickstart') }),
      body: shape({ enable: bool() }).example({ enable: false }),
      reply: payload(
        shape({
          name: text(),
          enable: bool(),
          restarting: bool().description('false: nothing had to change'),
        }),
        { statuses: [200, 202] },
      ),
      errors: [
        errors.UNKNOWN,
        errors.ESSENTIAL,
        errors.IN_USE,
        errors.WOULD_NOT_START,
        errors.NOT_WRITABLE,
        errors.BUSY,
        errors.NO_PROGRAM,
      ],
      handle: async ({ params: { name }, body: { enable }, who, reply }) => {
        if (!program) throw errors.NO_PROGRAM();
        await audit?.act('plugin', who, { name, facts: { enable } });
        const done = await program.switchPlugin(name, enable);
        throwRefusal(done);
        const state = enable ? 'enabled' : 'disabled';
        if (!done.restarting)
          return withMessage(`the plugin ${name} is already ${state}`, { name, enable, restarting: false });
        promise(reply);
        return withMessage(`the panel restarts; then the plugin ${name} is ${state}`, {
          name,
          enable,
          restarting: true,
        });
      },
    }),
    route({
      method: 'POST',
      path: '/panel/api/setting/restartPanel',
      name: 'settings.restartPanel',
      doc: 'Restarts the panel with the current environment and config file, after a check that it would start. The reply has status 202 and comes before the restart. The core keeps running.',
      reply: message({ statuses: [202] }),
      errors: [errors.WOULD_NOT_START, errors.BUSY, errors.NO_PROGRAM],
      handle: async ({ who, reply }) => {
        if (!program) throw errors.NO_PROGRAM();
        await audit?.act('panel', who, { name: 'restart' });
        throwRefusal(await program.restartPanel());
        promise(reply);
        return 'the panel restarts';
      },
    }),
  ],
  commands: ({ jobs, listeners, listener, plugins, audit }) => [
    jobsCommand(jobs, audit),
    healthCommand({ listeners, listener, plugins }),
  ],
});
