// Routes that stop, restart and show the core.
import {
  message,
  messageOf,
  PanelError,
  openObject,
  payload,
  route,
  type Route,
  text,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { CoreChangeReply } from './config/core-change.js';
import { configJson } from './config/config-json.js';
import { CoreRefused } from './driver.js';
import { errors } from './errors.js';
import type { Supervisor } from './life/supervisor.js';

export const routes = ({
  supervisor,
  audit,
}: {
  supervisor: Supervisor;
  audit?: AuditTrailApi | undefined;
}): Route[] => {
  const requireCore = (): void => {
    if (!supervisor.hasCore) throw errors.NO_CORE(supervisor.status().errorMsg);
  };
  return [
    route({
      method: 'GET',
      path: '/panel/api/engine/getEngineResult',
      name: 'engine.result',
      doc: 'Why the core does not run, or what is wrong with it; empty while it runs well. When it fails again and again, the first reason, how often, since when, and the latest reason.',
      reply: payload(text()),
      handle: () => supervisor.status().errorMsg,
    }),
    route({
      method: 'POST',
      path: '/panel/api/server/stopEngineService',
      name: 'server.stopEngine',
      doc: 'Stops the core, after a last poll, until it is restarted here or the panel restarts.',
      reply: message(),
      handle: async ({ who }) => {
        await audit?.act('core', who, { name: 'stop' });
        await supervisor.stop('an admin stopped it');
        return 'the core is stopped';
      },
    }),
    route({
      method: 'POST',
      path: '/panel/api/server/restartEngineService',
      name: 'server.restartEngine',
      doc: 'Starts or restarts the core with the current config. If the core rejects the config, it keeps running with the previous one.',
      reply: message(),
      errors: [errors.NO_CORE, errors.CONFIG_REFUSED, errors.START_FAILED],
      handle: async ({ who }) => {
        requireCore();
        await audit?.act('core', who, { name: 'restart' });
        try {
          await supervisor.restart('an admin restarts it');
        } catch (cause) {
          // A plugin refused it, with its own message.
          if (cause instanceof PanelError) throw cause;
          throw cause instanceof CoreRefused
            ? errors.CONFIG_REFUSED(`the core rejected the config: ${cause.message}`, { cause })
            : errors.START_FAILED(`the core did not start: ${messageOf(cause)}; it is tried again`, {
                cause,
              });
        }
        return 'the core is running with the current config';
      },
    }),
    route({
      method: 'GET',
      path: '/panel/api/engine/plan',
      name: 'engine.plan',
      doc: 'Returns what of the config the core does not run yet, and what it costs to change that: nothing, a change while it runs, or a restart. Usually nothing: changes are made when they are saved.',
      reply: payload(CoreChangeReply),
      handle: () => supervisor.pending(),
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/getConfigJson',
      name: 'server.coreConfig',
      doc: 'The config that the core is given at a start, users and keys included.',
      reply: payload(openObject()),
      errors: [errors.NO_CORE],
      handle: async ({ who }) => {
        requireCore();
        await audit?.act('download', who, { name: 'config of the core' });
        return configJson(supervisor);
      },
    }),
  ];
};
