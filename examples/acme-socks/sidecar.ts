import { fileURLToPath } from 'node:url';
import { userName, userOf } from '@weir-panel/weir/plugins/engine';
import type {
  Sidecar,
  SidecarControl,
  SidecarInstance,
  SidecarUser,
} from '@weir-panel/weir/plugins/sidecars';

const SCRIPT = fileURLToPath(new URL('./socks-server.js', import.meta.url));
const rowsOf = (users: readonly SidecarUser[]) =>
  users.map(({ name, account }) => [name, account['password']]);

export class SocksSidecar implements Sidecar {
  readonly protocol = 'acme-socks';
  // The program is a script, and what runs it is the Node of the panel.
  readonly program = { name: 'node', variable: '', chosen: process.execPath, hint: '' };

  plan(inbounds: Parameters<Sidecar['plan']>[0]): ReturnType<Sidecar['plan']> {
    return inbounds.map(({ id, listen, port }) => ({
      name: `in-${id}`,
      inboundIds: [id],
      ports: ['api'],
      process: ({ ports, secret }) => ({
        args: [SCRIPT, listen || '0.0.0.0', String(port), String(ports['api'])],
        env: { ACME_SECRET: secret },
      }),
    }));
  }

  open({ call, secret }: SidecarInstance): SidecarControl {
    const send = async (method: string, body?: unknown): Promise<unknown> => {
      const reply = await call('api', '/', { method, body, headers: { authorization: secret } });
      if (reply.status !== 200) throw new Error(`it answers ${reply.status}`);
      return reply.body;
    };
    const rows = async () => (await send('GET')) as readonly (readonly [string, number, number])[];
    return {
      users: {
        replace: async (users) => void (await send('PUT', rowsOf(users))),
        change: async (put, gone) =>
          void (await send('POST', { rows: rowsOf(put), gone: gone.map(userName) })),
        list: async () => (await rows()).map(([name]) => ({ name })),
      },
      // A removed user is forgotten with its counter.
      countersEndWithUsers: true,
      read: async () =>
        (await rows()).flatMap(([name, up, down]) => {
          const ref = userOf(name);
          return ref ? [{ ...ref, up, down }] : [];
        }),
    };
  }
}
