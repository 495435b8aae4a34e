// Which settings belong to the subscription, and which of them have been changed meanwhile.
import type { PluginSettings } from '../system/setting-fields.js';

/** Plugins that say what a subscription contains, or serve it. */
const isOfSubscription = ({ name }: Pick<PluginSettings, 'name'>): boolean =>
  name === 'subscription' || name.startsWith('sub-') || name === 'app-link';

/** In the order of the panel, with the subscription itself first. */
export const subscriptionPlugins = (plugins: readonly PluginSettings[]): PluginSettings[] =>
  plugins
    .filter(isOfSubscription)
    .sort((a, b) => Number(b.name === 'subscription') - Number(a.name === 'subscription'));
