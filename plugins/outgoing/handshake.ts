// TLS connections of plugins that look at the server itself, such as at its certificate.
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { type HandshakeOptions, OutgoingError } from './contract.js';
import { type Destination, nameOf } from './destination.js';
import { dial } from './dialler.js';
import { failureOf, type Way } from './exchange.js';

const WATCH_MS = 10;

/** Resolves after the handshake. Rejects with an `OutgoingError`, or with the reason of the signal. */
export async function shakeHands(
  destination: Destination,
  way: Way,
  {
    limits: _,
    signal: _signal,
    allowPrivate: _allowPrivate,
    outboundTag: _outboundTag,
    before,
    ...options
  }: HandshakeOptions,
): Promise<TLSSocket> {
  const { host } = destination;
  const { limits, signal: whole } = way;
  const late = new AbortController();
  const signal = AbortSignal.any([whole, late.signal]);
  const sentence = `${nameOf(destination)} did not finish its handshake within ${limits.connectMs / 1000} s (connectMs)`;
  const timer = setTimeout(() => late.abort(new OutgoingError('time', sentence)), limits.connectMs);
  let watch: NodeJS.Timeout | undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    const dialled = dial({ ...way, signal, host, destination });
    // A connection that opens after the end is closed.
    void dialled.then(
      (socket) => signal.aborted && socket.destroy(),
      () => undefined,
    );
    const socket = await Promise.race([dialled, ended]);
    signal.addEventListener('abort', () => socket.destroy(), { once: true });
    if (before) socket.write(before(socket));
    const secured = connect({
      socket,
      ...(isIP(host) === 0 && { servername: host }),
      ...options,
      rejectUnauthorized: false,
    });
    const tooMuch = (): OutgoingError | undefined =>
      // The socket below counts; the one above it shows 0.
      socket.bytesRead > limits.maxBytes
        ? new OutgoingError(
            'size',
            `${nameOf(destination)} sent more than ${limits.maxBytes} bytes in its handshake (maxBytes)`,
          )
        : undefined;
    // OpenSSL skips some messages of a server, however many there are, and each costs time.
    watch = setInterval(() => {
      const problem = tooMuch();
      if (problem) late.abort(problem);
    }, WATCH_MS);
    const shaken = new Promise<TLSSocket>((resolve, reject) => {
      secured.once('secureConnect', () => resolve(secured.off('error', reject)));
      secured.once('error', reject);
      secured.once('close', () => reject(new Error('it closed the connection')));
    });
    await Promise.race([shaken, ended]);
    const problem = tooMuch();
    if (problem) {
      late.abort(problem);
      throw problem;
    }
    // Whoever has it now looks at it; a connection that breaks meanwhile is closed.
    return secured.on('error', () => undefined);
  } catch (error) {
    throw signal.aborted && error === signal.reason ? error : failureOf(error, destination);
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    ended.catch(() => undefined);
  }
}
