// Sources of plugins that fail wherever a plugin can, and of a healthy one beside them.

/** Hooks by kind, with the contract that has them. */
export const HOOKS = {
  guard: {
    clients: ['beforeClientSave'],
    inbounds: ['beforeInboundSave'],
    settings: ['beforeSettingsSave'],
    access: ['beforeLogin'],
    subscription: ['beforeSubscription'],
  },
  draft: {
    engine: ['composeCoreConfig'],
    subscription: ['composeSubscription'],
    settings: ['composeDefaultSettings'],
    kernel: ['composeStartupSummary'],
  },
  filter: {
    traffic: ['trafficDeltas', 'depletionCandidates'],
    inbounds: ['describeInbounds'],
    subscription: ['subscriptionHeaders', 'inboundEntry'],
    settings: ['settingChanges'],
  },
  choose: { kernel: ['authenticate'] },
  after: {
    clients: ['afterClientSave'],
    inbounds: ['afterInboundSave'],
    settings: ['afterSettingsSave'],
    kernel: ['afterKernelOpen'],
  },
  event: {
    clients: ['clientChanged'],
    traffic: ['trafficCounted', 'clientDepleted'],
    access: ['loginAttempted'],
    engine: ['coreStateChanged', 'usersRemoved'],
    kernel: ['kernelReady'],
  },
} as const;
export type Kind = keyof typeof HOOKS;

const door = (owner: string): string =>
  owner === 'kernel' ? '@weir-panel/weir/kernel' : `@weir-panel/weir/plugins/${owner}`;

/** A plugin that runs the statement `deed` in every tap of these kinds, in its route, its job, its contributions and its stop. */
export function misbehaving(name: string, deed: string, kinds: readonly Kind[]): string {
  const owners = kinds.flatMap((kind) => Object.entries(HOOKS[kind]) as [string, readonly string[]][]);
  const hooks = owners.flatMap(([, names]) => names);
  return `import { definePlugin, contribute, job, message, route, tap } from '@weir-panel/weir/kernel';
${owners.map(([owner, names]) => `import { ${names.join(', ')} } from '${door(owner)}';`).join('\n')}
import { PresenceSources } from '@weir-panel/weir/plugins/clients';
import { LiveTypes } from '@weir-panel/weir/plugins/realtime';
import { Formats } from '@weir-panel/weir/plugins/subscription';
const deed = () => { ${deed} };
export default definePlugin({
  name: '${name}', version: '1.0.0', api: 1, about: 'Does wrong.',
  contributes: () => [
    contribute(PresenceSources, { isOnline: deed }),
    contribute(LiveTypes, { type: '${name}', snapshot: deed, start: deed }),
    contribute(Formats, { name: '${name}', contentType: 'text/plain', prefix: () => '/${name}/', cannot: deed, compile: deed, body: deed }),
  ],
  taps: () => [${hooks.map((hook) => `tap(${hook}, deed)`).join(', ')}],
  routes: () => [route({ method: 'GET', path: '/panel/api/x/${name}/deed', doc: 'Does wrong.', reply: message(), handle: deed })],
  jobs: () => [job('deed', '5s', deed)],
  stop: deed,
});
`;
}

/** What the healthy plugin has received. */
export interface Heard {
  readonly bytes: number;
  readonly depleted: readonly string[];
  readonly saved: number;
  readonly ticks: number;
}

export const healthy = `import { definePlugin, job, openObject, payload, route, tap } from '@weir-panel/weir/kernel';
import { afterClientSave } from '@weir-panel/weir/plugins/clients';
import { subscriptionHeaders } from '@weir-panel/weir/plugins/subscription';
import { clientDepleted, trafficCounted } from '@weir-panel/weir/plugins/traffic';
const heard = { bytes: 0, depleted: [], saved: 0, ticks: 0 };
export default definePlugin({
  name: 'healthy', version: '1.0.0', api: 1, about: 'Does right.',
  taps: () => [
    tap(trafficCounted, ({ usage }) => { for (const { up, down } of usage) heard.bytes += up + down; }),
    tap(clientDepleted, ({ clients }) => { heard.depleted.push(...clients.map(({ email }) => email)); }),
    tap(afterClientSave, ({ changes }) => { heard.saved += changes.length; }),
    tap(subscriptionHeaders, (headers) => [...headers, ['X-Healthy', 'yes']]),
  ],
  routes: () => [route({ method: 'GET', path: '/panel/api/x/healthy/heard', doc: 'What it heard.', reply: payload(openObject()), handle: () => heard })],
  jobs: () => [job('tick', '1s', () => { heard.ticks += 1; })],
});
`;
