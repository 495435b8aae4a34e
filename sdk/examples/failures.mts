import { PanelFailure, PanelUnreachable, Weir } from '@weir-panel/sdk';

const weir = new Weir({ url: process.env.WEIR_URL ?? '', token: process.env.WEIR_TOKEN ?? '' });

try {
  await weir.clients.add({ body: { client: { email: 'no spaces', totalGB: -1 }, inboundIds: [] } });
} catch (error) {
  if (error instanceof PanelFailure && error.code === 'KERNEL_INVALID')
    for (const { path, message } of error.issues) console.log(`${path}: ${message}`);
  else if (error instanceof PanelFailure)
    console.log(`${error.code}: ${error.message}; the log of the panel has it as ${error.requestId}`);
  else if (error instanceof PanelUnreachable && error.mayBeDone)
    console.log('no reply: look whether it was done, or send it with an idempotencyKey');
  else throw error;
}
