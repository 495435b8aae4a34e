// The page of a subscription, for browsers.
import { contribute, definePlugin } from '../../kernel/index.js';
import { SubscriptionPages } from '../subscription/contract.js';
import { writePage } from './page.js';

export default definePlugin({
  name: 'sub-page',
  version: '0.1.0',
  api: 1,
  about: 'Shows the users of a subscription what they have used, and how to connect, in their language.',
  contributes: () => [contribute(SubscriptionPages, { page: writePage })],
});
