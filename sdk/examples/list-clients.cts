import { Weir } from '@weir-panel/sdk';

const { WEIR_URL = '', WEIR_TOKEN = '' } = process.env;
const weir = new Weir({ url: WEIR_URL, token: WEIR_TOKEN });

async function main() {
  for (let page = 1; ; page++) {
    const { items } = await weir.clients.list({ query: { page, pageSize: 100 } });
    if (items.length === 0) return;
    for (const { email, enable, traffic } of items) console.log(email, enable, traffic?.down ?? 0);
  }
}
void main();
