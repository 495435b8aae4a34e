// The program: listens on the Unix socket in its first argument, and sends back what it receives.
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';

const [, , socket = ''] = process.argv;
// A killed process may have left its socket.
rmSync(socket, { force: true });
createServer((connection) => connection.on('error', () => undefined).pipe(connection)).listen(socket);
