// What the formats cannot express, with their reasons: asked of a panel without a core.
import { selfSigned } from '../harness/self-signed.js';
import { definePlugin } from '../../kernel/index.js';
import { findPlugins } from '../../panel/find-plugins.js';
import { readPreset } from '../../panel/choose-plugins.js';
import { newX25519 } from '../../plugins/keygen/contract.js';
import { Subscription, type SubscriptionApi } from '../../plugins/subscription/contract.js';
import { NAME, type SiteParts } from '../demo/streams.js';
import { TestPanel } from '../harness/panel.js';
import { everyWay, nameOf, type Way } from './ways.js';

const PORT = 8443;

/** Of a site that is nowhere. */
function siteOnPaper(): SiteParts {
  const { cert, key } = selfSigned(NAME);
  const lines = (text: string): string[] => text.trim().split('\n');
  const pem = { certificate: lines(cert), key: lines(key) };
  return { pem, realityKey: newX25519().privateKey, port: PORT, pins: ['ab'.repeat(32)] };
}

/** Reasons by name of a way, by format. */
export type Refusals = ReadonlyMap<string, ReadonlyMap<string, string>>;

export async function refusals(): Promise<{ readonly ways: readonly Way[]; readonly refusals: Refusals }> {
  let subscription: SubscriptionApi | undefined;
  const reader = definePlugin({
    name: 'left-out-reader',
    version: '0.0.0',
    api: 1,
    about: 'Reads what the formats leave out, for a test.',
    uses: { subscription: Subscription },
    start: (scope) => void ({ subscription } = scope),
  });
  await using panel = await TestPanel.boot({
    plugins: [...(await findPlugins(await readPreset('full'))), reader],
    env: {
      WEIR_ENGINE_BIN: '/nowhere/core',
      WEIR_ENGINE_INSTALL: 'off',
      WEIR_FALLBACK_DESTINATIONS: `127.0.0.1:${PORT}`,
    },
  });
  const ways = everyWay(siteOnPaper());
  const names = new Map<number, string>();
  for (const way of ways) names.set(await panel.addInbound(way.inbound), nameOf(way));
  const found = new Map<string, Map<string, string>>();
  for (const { format, inboundId, reason } of subscription?.leftOut() ?? []) {
    const reasons = found.get(format) ?? new Map<string, string>();
    found.set(format, reasons.set(names.get(inboundId) ?? '', reason));
  }
  return { ways, refusals: found };
}
