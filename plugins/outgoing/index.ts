import Joi from 'joi';
import {
  custom,
  definePlugin,
  Listeners,
  optional,
  provide,
  singleton,
  variable,
  withDefault,
} from '../../kernel/index.js';
import type { Allowed } from './address-guard.js';
import { Outgoing } from './contract.js';
import { patternOf } from './destination.js';
import { type ProxyServer, proxyOf } from './proxy.js';
import { OutgoingCalls } from './service.js';

/** Reads `host` or `plugin=host`; returns undefined for anything else. */
function allowedOf(text: string): Allowed | undefined {
  const [, plugin, host = ''] = /^(?:([a-z][a-z0-9-]*)=)?(.*)$/s.exec(text) ?? [];
  const pattern = patternOf(host);
  return pattern && { plugin, pattern };
}

/** A list, in the environment comma-separated. */
const allowList = () =>
  custom<readonly Allowed[]>(
    Joi.any().custom((value: unknown, state) => {
      const given: unknown[] = typeof value === 'string' ? value.split(',') : [value].flat();
      const entries = given.map((entry) => String(entry).trim()).filter(Boolean);
      const wrong = entries.find((entry) => !allowedOf(entry));
      if (wrong === undefined) return entries.map(allowedOf);
      return state.error('any.custom', {
        error: new Error(
          `"${wrong}" is not a valid host: write example.com, *.example.com, an address, address/prefix or *, optionally with :port or plugin=`,
        ),
      });
    }),
  );

const proxyAddress = () =>
  custom<ProxyServer>(
    Joi.any().custom((value: unknown, state) => {
      const proxy = typeof value === 'string' ? proxyOf(value.trim()) : undefined;
      // The value may hold a password, so it is not repeated.
      return (
        proxy ??
        state.error('any.custom', {
          error: new Error('it must be http://, https://, socks5:// or socks5h:// with host and port'),
        })
      );
    }),
  );

export default definePlugin({
  name: 'outgoing',
  version: '0.1.0',
  api: 1,
  about: 'Calls of plugins to other machines, with limits and a guard against addresses that were not meant.',
  uses: { listeners: Listeners },
  config: {
    allow: variable(
      'WEIR_OUTGOING_ALLOW',
      withDefault(allowList(), []),
      'hosts and private addresses that plugins may call besides those they declare: host, *.host, address or address/prefix, optionally with :port or plugin=, comma-separated',
    ),
    proxy: variable(
      'WEIR_OUTGOING_PROXY',
      optional(proxyAddress()),
      'proxy for the calls of plugins: http://, https://, socks5:// or socks5h://, with user:password@ if wanted',
    ),
  },
  services: { calls: singleton(OutgoingCalls) },
  provides: ({ calls }) => [provide(Outgoing, calls)],
  stop: ({ calls }) => calls.close(),
  start: ({ calls, log }) => {
    if (calls.isBlind)
      log.info('the proxy for outgoing calls resolves names; their addresses are not checked here', {});
  },
});
