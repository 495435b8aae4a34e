// The program: sends back what comes over the Unix socket that its first argument names.
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';

const [, , socket = ''] = process.argv;
// The one that was killed may have left its socket.
rmSync(socket, { force: true });
createServer((connection) => connection.on('error', () => undefined).pipe(connection)).listen(socket);
