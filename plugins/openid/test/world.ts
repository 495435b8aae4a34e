// A panel whose admins log in at a provider.
import type { Plugin } from '../../../kernel/index.js';
import type { Clock } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { CLIENT, RealProvider } from './real-provider.js';
import { Visitor } from './visitor.js';

export interface WorldOptions {
  readonly clock?: Clock;
  readonly basePath?: string;
  readonly plugins?: readonly Plugin[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `basePath` begins with a slash and has none at its end. */
export async function bootPanel({
  clock,
  basePath = '',
  plugins = [],
  env,
}: WorldOptions = {}): Promise<TestPanel> {
  return TestPanel.boot({
    plugins: [new FakeEngine().plugin, ...plugins],
    env: { WEIR_BASE_PATH: `${basePath}/`, ...env },
    ...(clock && { clock }),
    ...(basePath !== '' && { anonymous: true }),
  });
}

export const settingsFor = (issuer: string, publicUrl: string, more: object = {}) => ({
  openidEnable: true,
  openidIssuer: issuer,
  openidPublicUrl: publicUrl,
  openidClientId: CLIENT.id,
  openidClientSecret: CLIENT.secret,
  openidAllowPrivate: true,
  ...more,
});

/** A panel with a real provider, which is set up. */
export async function boot(options: WorldOptions = {}) {
  const { basePath = '' } = options;
  const panel = await bootPanel(options);
  const base = `${panel.url}${basePath}`;
  const provider = await RealProvider.start(`${base}/panel/api/x/openid/callback`);
  const admin = new Visitor(panel, basePath);
  await admin.passwordLogin('admin', 'correct horse battery');
  const set = async (values: object): Promise<void> => {
    const { status, text } = await admin.call('/panel/api/setting/update', { body: values });
    if (status !== 200) throw new Error(text);
  };
  await set(settingsFor(provider.issuer, `${base}/`));
  return {
    panel,
    provider,
    /** has the session of the full admin */
    admin,
    set,
    visitor: () => new Visitor(panel, basePath),
    async [Symbol.asyncDispose]() {
      await panel[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}
