import { Weir } from '@weir-panel/sdk';

const { WEIR_URL = '', WEIR_TOKEN = '' } = process.env;
const weir = new Weir({ url: WEIR_URL, token: WEIR_TOKEN });

const [inbound] = await weir.inbounds.options();
if (!inbound) throw new Error('create an inbound first');
await weir.clients.add({
  body: { client: { email: 'ann@example.com', totalGB: 50 * 1024 ** 3 }, inboundIds: [inbound.id] },
});
for (const link of await weir.clients.links({ email: 'ann@example.com' })) console.log(link);
