import { definePlugin, contribute, text, setting, inSection } from '@weir-panel/weir/kernel';
import { Channels } from '@weir-panel/weir/plugins/notifications';
import { Outgoing, type OutgoingAccess, OutgoingHosts } from '@weir-panel/weir/plugins/outgoing';
import { post } from './post.js';

const settings = inSection('Callbacks', {
  'acme-callbacks.url': setting(
    text().pattern(/^(?:https?:\/\/[^\s/]+\S*)?$/, 'address that begins with http:// or https://'),
    '',
    'address to send notifications to',
  ),
  'acme-callbacks.secret': setting(
    text().pattern(/^(?:whsec_[A-Za-z0-9+/]{32,86}={0,2})?$/, 'whsec_ and 24 to 64 random bytes in base64'),
    '',
    'key that signs the notifications',
    { secret: true },
  ),
});

export default definePlugin({
  name: 'acme-callbacks',
  version: '1.0.0',
  api: 1,
  about: 'Sends notifications as signed JSON to an address.',
  settings,
  uses: { outgoing: Outgoing },
  contributes: ({ settings: live, outgoing }) => {
    const target = () => ({
      url: live.read()['acme-callbacks.url'],
      secret: live.read()['acme-callbacks.secret'],
    });
    const access: OutgoingAccess = { hosts: () => [target().url] };
    const fetch = outgoing.for(access);
    return [
      contribute(OutgoingHosts, access),
      contribute(Channels, {
        name: 'acme-callbacks',
        isOn: () => target().url !== '' && target().secret !== '',
        send: (notification, signal) => post(fetch, target(), notification, signal),
      }),
    ];
  },
});
