import { Weir } from '@weir-panel/sdk';

const { WEIR_URL = '', WEIR_USERNAME = '', WEIR_PASSWORD = '' } = process.env;
const weir = new Weir({ url: WEIR_URL });

await weir.signIn({ username: WEIR_USERNAME, password: WEIR_PASSWORD });
const { total } = await weir.clients.list();
console.log(`${total} clients`);
await weir.access.logout();
