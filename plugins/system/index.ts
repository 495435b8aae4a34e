import {
  bool,
  definePlugin,
  Jobs,
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
import { type Objection, PanelProgram, type Switched } from './contract.js';
import { errors } from './errors.js';
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

/** It will be done; this connection does not outlive it. */
function promise(reply: RequestInfo['reply']): void {
  reply.status(202);
  reply.header('connection', 'close');
}

export default definePlugin({
  name: 'system',
  version: '0.1.0',
  api: 1,
  about:
    'Tells which plugins and jobs there are and how they are, switches plugins on and off, and runs jobs.',
  uses: { plugins: Plugins, jobs: Jobs, program: maybe(PanelProgram) },
  routes: ({ plugins, jobs, program }) => [
    ...jobRoutes(jobs),
    route({
      method: 'GET',
      path: '/panel/api/system/plugins',
      name: 'system.plugins.list',
      doc: 'Every plugin that is on, and for one that does not run why.',
      reply: payload(PluginList),
      handle: () => pluginList(plugins, program),
    }),
    route({
      method: 'POST',
      path: '/panel/api/system/plugins/{name}',
      name: 'system.plugins.setEnable',
      doc: 'Switches a plugin on or off in the config file, once it is known that the panel would start with it. The reply has status 202 and comes before the panel restarts, which takes a second or two and does not touch the core; GET /panel/api/system/plugins tells what became of it. When the start fails, the former config comes back.',
      params: shape({ name: word().max(255).example('quickstart') }),
      body: shape({ enable: bool() }).example({ enable: false }),
      reply: payload(
        shape({
          name: text(),
          enable: bool(),
          restarting: bool().description('false: nothing had to be changed'),
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
      handle: async ({ params: { name }, body: { enable }, reply }) => {
        if (!program) throw errors.NO_PROGRAM();
        const done = await program.switchPlugin(name, enable);
        throwRefusal(done);
        const state = enable ? 'on' : 'off';
        if (!done.restarting)
          return withMessage(`the plugin ${name} is ${state} already`, { name, enable, restarting: false });
        promise(reply);
        return withMessage(`the panel restarts to switch the plugin ${name} ${state}`, {
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
      doc: 'Starts the panel anew, with what environment and config file say now, once it is known that it would start so. The reply has status 202 and comes before. The core runs on.',
      reply: message({ statuses: [202] }),
      errors: [errors.WOULD_NOT_START, errors.BUSY, errors.NO_PROGRAM],
      handle: async ({ reply }) => {
        if (!program) throw errors.NO_PROGRAM();
        throwRefusal(await program.restartPanel());
        promise(reply);
        return 'the panel restarts';
      },
    }),
  ],
  commands: ({ jobs }) => [jobsCommand(jobs)],
});
