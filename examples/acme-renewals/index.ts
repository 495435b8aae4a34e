import { contribute, definePlugin } from '@weir-panel/weir/kernel';
import { callbackSource, CallbackSources } from '@weir-panel/weir/plugins/event-callbacks';
import { clientRenewed } from '@weir-panel/weir/plugins/traffic';

export default definePlugin({
  name: 'acme-renewals',
  version: '1.0.0',
  api: 1,
  about: 'Tells callbacks when the time of a client begins again.',
  contributes: () => [
    contribute(
      CallbackSources,
      callbackSource({
        types: { 'acme-renewals.renewed': 'The time of a client was over, and begins again.' },
        hook: clientRenewed,
        *describe({ clients }) {
          for (const { id, email, previousExpiryTime, expiryTime, resetCount } of clients)
            yield {
              type: 'acme-renewals.renewed',
              name: email,
              data: {
                client: { id, email, expiryTime, resetCount },
                previous: { expiryTime: previousExpiryTime },
              },
            };
        },
      }),
    ),
  ],
});
