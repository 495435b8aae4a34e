// What environment and config file say of the panel's listener, as values of settings.
import { isLoopback, type Log } from '../../kernel/index.js';
import type { PanelListenerApi } from './contract.js';

export const ALL_ADDRESSES = '0.0.0.0';

/** The program around the kernel warns of the address in the environment; here it is that of the setting. */
export function warnOfPlainHttp(
  { panelListener, log }: { readonly panelListener: PanelListenerApi | undefined; readonly log: Log },
  host: string,
): void {
  if (!panelListener || panelListener.host.value === host || isLoopback(host)) return;
  if (panelListener.certificateFiles.certificate === '')
    log.warn(
      'the panel sends passwords and cookies unencrypted: set webCertFile and webKeyFile, or put a proxy with TLS before it and webListen on 127.0.0.1',
      { host },
    );
}

/** The settings that the environment and the config file of the panel itself set. */
export function ofPanel(panel: PanelListenerApi | undefined) {
  if (!panel) return { pinned: {}, defaults: {} };
  const { host, port, trustedProxies } = panel;
  const address = host.value === ALL_ADDRESSES ? '' : host.value;
  const proxies = trustedProxies.value.join(',');
  return {
    pinned: {
      ...(host.source === 'environment' && { webListen: { value: address, variable: 'WEIR_HOST' } }),
      ...(port.source === 'environment' && { webPort: { value: port.value, variable: 'WEIR_PANEL_PORT' } }),
      ...(trustedProxies.source === 'environment' && {
        trustedProxyCIDRs: { value: proxies, variable: 'WEIR_TRUSTED_PROXIES' },
      }),
    },
    defaults: {
      ...(host.source === 'file' && { webListen: address }),
      ...(port.source === 'file' && { webPort: port.value }),
      ...(trustedProxies.source === 'file' && { trustedProxyCIDRs: proxies }),
    },
  };
}
