import type { Socket } from 'node:net';

/** Reads exactly so many bytes; rejects when the connection ends before, or after `limitMs`. */
export function readExactly(socket: Socket, bytes: number, limitMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const end = (then: () => void): void => {
      clearTimeout(timer);
      socket.off('readable', look);
      socket.off('close', look);
      then();
    };
    const look = (): void => {
      const chunk = socket.read(bytes) as Buffer | null;
      if (chunk?.length === bytes) end(() => resolve(chunk));
      else if (chunk !== null || socket.readableEnded || socket.destroyed)
        end(() => reject(new Error('the connection was closed')));
    };
    const timer = setTimeout(() => end(() => reject(new Error('no answer'))), limitMs);
    socket.on('readable', look);
    socket.on('close', look);
    look();
  });
}
